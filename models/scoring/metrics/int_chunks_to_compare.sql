-- One row per interaction that retrieved a relevant chunk beside another one, with the ids of the sentences of its
-- query and its context.
{{ config(materialized='view') }}
with units as (
    select * from {{ ref('hcat', 'int_interaction_units') }}
),

retrievals_graded as (
    select * from {{ ref('hcat', 'int_retrievals_graded') }}
),

rankable as (
    select interaction_id
    from retrievals_graded
    group by interaction_id
    having max(grade) > 0 and count(*) > 1
),

final as (
    select
        units.interaction_id,
        units.input_key,
        units.query_text_ids,
        units.context_text_ids,
        units.context_ranks
    from units
    inner join rankable on units.interaction_id = rankable.interaction_id
    where units.query_text_ids is not null and units.context_text_ids is not null
)

select * from final
