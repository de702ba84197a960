-- One row per (interaction, rank) of a staged retrieval, with the text that the application saw, and with the grade of
-- its chunk where the query has a relevant one.
with retrievals as (
    select * from {{ ref('hcat', 'stg_retrievals') }}
),

interactions as (
    select interaction_id, query_id from {{ ref('hcat', 'int_interactions_joined') }}
),

chunks as (
    select chunk_id, document_id from {{ ref('hcat', 'stg_chunks') }}
),

relevance as (
    select * from {{ ref('hcat', 'int_query_relevance') }}
),

judged_queries as (
    select query_id
    from relevance
    group by query_id
    having max(grade) > 0
),

passages as (
    select interaction_id, position, passage_text from {{ ref('hcat', 'int_interaction_passages') }}
    where role = 'context'
),

final as (
    select
        retrievals.interaction_id,
        retrievals.chunk_id,
        chunks.document_id,
        retrievals.rank,
        retrievals.retrieval_score,
        passages.passage_text,
        case
            when judged_queries.query_id is not null and retrievals.chunk_id is not null
                then coalesce(relevance.grade, 0.0)
        end as grade
    from retrievals
    inner join interactions on retrievals.interaction_id = interactions.interaction_id
    left join chunks on retrievals.chunk_id = chunks.chunk_id
    left join judged_queries on interactions.query_id = judged_queries.query_id
    left join relevance on interactions.query_id = relevance.query_id and retrievals.chunk_id = relevance.chunk_id
    left join passages on retrievals.interaction_id = passages.interaction_id and retrievals.rank = passages.position
)

select * from final
