{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}

with measurements as (
    select * from {{ ref('hcat', 'int_gate_measurements') }}
    where application is null
),

validated as (
    select * from {{ ref('hcat', 'int_gates_validated') }}
    where part = 'gates'
),

final as (
    select
        -- ids
        md5('{{ invocation_id }}' || '|' || measurements.gate_name) as gate_result_id,
        '{{ invocation_id }}' as run_id,
        measurements.gate_name,

        -- strings
        measurements.measurement, measurements.metric_name, measurements.dimension, measurements.segment,
        measurements.severity, measurements.burden, measurements.comparison,
        coalesce(validated.verdict, 'not_evaluated') as verdict,
        concat_ws(
            '; ',
            coalesce(validated.reason, 'the gate has no validation result'),
            -- a note that is the cause stands in the reason already
            case
                when not contains(coalesce(validated.reason, ''), measurements.decision_note)
                    then measurements.decision_note
            end
        ) as reason,
        validated.expectation_results, measurements.rationale,

        -- numerics
        {{ build_number() }} as build_number,
        measurements.threshold, measurements.measured_value, measurements.lower_bound,
        measurements.upper_bound, measurements.n, measurements.minimum_n,

        -- booleans
        coalesce(validated.is_passing, false) as is_passing,

        -- timestamps
        timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}' as evaluated_at
    from measurements
    left join validated on measurements.gate_name = validated.gate_name
)

select * from final
