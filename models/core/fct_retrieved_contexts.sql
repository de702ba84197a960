{{ config(materialized='table') }}

with interactions as (
    select interaction_id, query_id from {{ ref('hcat', 'int_interactions') }}
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

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
),

contexts as (
    select
        retrievals.interaction_id,
        retrievals.chunk_id,
        chunks.document_id,
        retrievals.rank,
        retrievals.retrieval_score,
        -- the text that the application saw
        coalesce(masked.masked_text, passages.passage_text) as context_text,
        case
            when judged_queries.query_id is not null and retrievals.chunk_id is not null
                then coalesce(relevance.grade, 0.0)
        end as grade
    from {{ ref('hcat', 'stg_retrievals') }} as retrievals
    inner join interactions on retrievals.interaction_id = interactions.interaction_id
    left join chunks on retrievals.chunk_id = chunks.chunk_id
    left join judged_queries on interactions.query_id = judged_queries.query_id
    left join relevance on interactions.query_id = relevance.query_id and retrievals.chunk_id = relevance.chunk_id
    left join passages on retrievals.interaction_id = passages.interaction_id and retrievals.rank = passages.position
    left join masked on md5(passages.passage_text) = masked.text_id
)

select {{ columns_of_contract({
    'retrieved_context_id': "md5(concat_ws('|', interaction_id, rank))",
    'rank': 'rank::integer',
    'is_relevant': 'grade > 0',
}) }}
from contexts
