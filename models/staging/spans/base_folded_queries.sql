-- One row per query and reference answer that traces log, as a record of queries.
with interactions as (
    select * from {{ ref('hcat', 'base_folded_interactions') }}
    where read_error is null
),

span_values as (
    select * from {{ ref('hcat', 'base_span_values') }}
    where field = 'reference_answer'
),

numbered as (
    select
        interactions.source_file,
        interactions.query_id,
        interactions.query_text as text,
        span_values.value as reference_answer,
        interactions.source_row,
        interactions.landing_number,
        row_number() over (
            partition by interactions.query_id, span_values.value
            order by
                interactions.landing_number, interactions.source_file, interactions.source_row, interactions.trace_id,
                span_values.priority, span_values.record_id, span_values.position
        ) as occurrence
    from interactions
    inner join span_values on interactions.trace_id = span_values.trace_id
),

final as (
    select
        md5(concat_ws('|', 'query', query_id, reference_answer)) as record_id,
        source_file,
        query_id,
        text,
        reference_answer,
        md5(concat_ws('|', query_id, reference_answer)) as record_hash,
        null as read_error,
        source_row,
        landing_number
    from numbered
    where occurrence = 1
)

select * from final
