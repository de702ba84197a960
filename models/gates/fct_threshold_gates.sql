{{ config(
    materialized='incremental',
    incremental_strategy='append',
    on_schema_change='append_new_columns',
    full_refresh=false
) }}

{#- a history that is older than days of decision remembers none -#}
{%- set is_remembered = is_incremental() and has_column(this, 'decide_on') %}
{#- what a decision rests on stays with it -#}
{%- set figures = {'threshold': 'double', 'measured_value': 'double', 'lower_bound': 'double', 'upper_bound': 'double',
    'n': 'bigint', 'minimum_n': 'bigint', 'burden': 'string', 'comparison': 'string', 'expectation_results': 'string'} %}
{%- set kept = {} %}
{%- for figure in figures %}
{%- set source = 'validated.' if figure == 'expectation_results' else 'measurements.' %}
{%- do kept.update({figure: 'if(judged.decided_at is null, ' ~ source ~ figure ~ ', judged.' ~ figure ~ ')'}) %}
{%- endfor %}

with measurements as (
    select * from {{ ref('hcat', 'int_gate_measurements') }}
    where application is null
),

validated as (
    select * from {{ ref('hcat', 'int_gates_validated') }}
    where part = 'gates'
),

candidates as (
    select distinct system from {{ ref('hcat', 'fct_interactions') }}
    where version_role = 'candidate'
),

days as (
    select
        gate_name, cast(decide_on as date) as decide_on,
        coalesce(cast(decide_on as date) > date '{{ run_started_at.strftime("%Y-%m-%d") }}', false) as is_early,
        (select {{ joined_text('system', "' | '", 'system') }} from candidates) as candidates
    from {{ ref('hcat', 'int_gates_in_force') }}
),

-- what a gate said first on its day of decision or later, of these candidates
decided as (
    {% if is_remembered %}
    select
        gate_name, decide_on, candidates, verdict, reason, is_passing, evaluated_at, {{ figures | join(', ') }}
    from {{ this }}
    where cast(evaluated_at as date) >= decide_on and verdict <> 'not_evaluated'
    qualify row_number() over (partition by gate_name, decide_on, candidates order by build_number) = 1
    {% else %}
    select
        gate_name, cast(null as date) as decide_on,
        {%- for figure, type in figures.items() %}
        cast(null as {{ type }}) as {{ figure }},
        {%- endfor %}
        '' as candidates, verdict, reason, is_passing,
        cast(null as timestamp) as evaluated_at
    from validated
    where false
    {% endif %}
),

judged as (
    select
        days.gate_name, days.decide_on, days.candidates,
        coalesce(
            decided.verdict, case when days.is_early then 'not_evaluated' end, validated.verdict, 'not_evaluated'
        ) as verdict,
        coalesce(
            'Decided on ' || cast(decided.evaluated_at as date) || ': ' || decided.reason,
            case when days.is_early then 'Not decided before ' || days.decide_on || '; today: ' else '' end
            || coalesce(validated.reason, 'the gate has no validation result.')
        ) as reason,
        coalesce(decided.is_passing, validated.is_passing and not days.is_early, false) as is_passing,
        {%- for figure in figures %}
        decided.{{ figure }},
        {%- endfor %}
        decided.evaluated_at as decided_at
    from days
    left join validated on days.gate_name = validated.gate_name
    left join decided
        on
            days.gate_name = decided.gate_name
            and days.decide_on = decided.decide_on
            and days.candidates is not distinct from decided.candidates
)

select {{ columns_of_contract(dict({
    'gate_result_id': "md5('" ~ invocation_id ~ "' || '|' || measurements.gate_name)",
    'run_id': "'" ~ invocation_id ~ "'",
    'verdict': 'judged.verdict',
    'reason': 'judged.reason',
    'candidates': 'judged.candidates',
    'build_number': build_number(),
    'is_passing': 'judged.is_passing',
    'decide_on': 'judged.decide_on',
    'evaluated_at': "timestamp '" ~ run_started_at.strftime('%Y-%m-%d %H:%M:%S') ~ "'",
}, **kept), of='measurements') }}
from measurements
inner join judged on measurements.gate_name = judged.gate_name
left join validated on measurements.gate_name = validated.gate_name
