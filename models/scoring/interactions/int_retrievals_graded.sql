-- Unjudged chunks have grade 0. A retriever that found nothing has one row without a position. Where a passage was
-- rejected, the list is unknown.
{{ config(materialized='table') }}

with interactions as (
    select joined.interaction_id, joined.query_id, joined.count_retrieved
    from {{ ref('hcat', 'int_interactions') }} as joined
    left join {{ ref('hcat', 'stg_retrievals__unread') }} as unread on joined.interaction_id = unread.interaction_id
    where not coalesce(unread.has_rejected_passage, false)
),

retrievals as (
    select * from {{ ref('hcat', 'stg_retrievals') }}
),

-- Retrieval without any chunk id cannot be graded. A chunk without an id keeps its rank among chunks with ids.
identified as (
    select distinct interaction_id
    from retrievals
    where chunk_id is not null
),

relevance as (
    select * from {{ ref('hcat', 'int_query_relevance') }}
),

-- Only queries with at least one relevant chunk can distinguish good retrieval from bad.
judged_queries as (
    select query_id
    from relevance
    group by query_id
    having max(grade) > 0
),

positioned as (
    select
        retrievals.interaction_id,
        interactions.query_id,
        retrievals.chunk_id,
        row_number() over (partition by retrievals.interaction_id order by retrievals.rank) as position,
        row_number() over (partition by retrievals.interaction_id, retrievals.chunk_id order by retrievals.rank)
            as occurrence
    from retrievals
    inner join identified on retrievals.interaction_id = identified.interaction_id
    inner join interactions on retrievals.interaction_id = interactions.interaction_id
    inner join judged_queries on interactions.query_id = judged_queries.query_id
),

found as (
    select distinct interaction_id from retrievals
),

empty as (
    select interactions.interaction_id, interactions.query_id
    from interactions
    inner join judged_queries on interactions.query_id = judged_queries.query_id
    left join found on interactions.interaction_id = found.interaction_id
    where interactions.count_retrieved = 0 and found.interaction_id is null
),

final as (
    select
        positioned.interaction_id,
        positioned.query_id,
        positioned.chunk_id,
        positioned.position,
        -- A chunk that is retrieved twice counts as relevant once.
        case when positioned.occurrence = 1 then coalesce(relevance.grade, 0.0) else 0.0 end as grade
    from positioned
    left join relevance on positioned.query_id = relevance.query_id and positioned.chunk_id = relevance.chunk_id
    union all
    select interaction_id, query_id, null as chunk_id, null as position, 0.0 as grade
    from empty
)

select * from final
