with chunks as (
    select * from {{ ref('hcat', 'stg_chunks') }}
),

documents as (
    select document_id, title from {{ ref('hcat', 'dim_documents') }}
),

retrieved as (
    select chunk_id, count(distinct interaction_id) as count_interactions
    from {{ ref('hcat', 'stg_retrievals') }}
    where chunk_id is not null
    group by chunk_id
),

relevance as (
    select chunk_id, count(distinct query_id) as count_queries
    from {{ ref('hcat', 'int_query_relevance') }}
    where grade > 0
    group by chunk_id
),

recognised as (
    select text_id, text, masked_text from {{ ref('hcat', 'int_texts_masked') }}
),

final as (
    select
        -- ids
        chunks.chunk_id,
        chunks.document_id,

        -- strings
        documents.title,
        coalesce(topics.masked_text, chunks.topic) as topic,
        -- Only a text that was searched for personal data is shown.
        coalesce(texts.masked_text, texts.text) as chunk_text,

        -- numerics
        chunks.chunk_index::integer as chunk_index,
        length(chunks.chunk_text)::integer as count_characters,
        coalesce(retrieved.count_interactions, 0)::integer as count_interactions,
        coalesce(relevance.count_queries, 0)::integer as count_queries
    from chunks
    left join documents on chunks.document_id = documents.document_id
    left join retrieved on chunks.chunk_id = retrieved.chunk_id
    left join relevance on chunks.chunk_id = relevance.chunk_id
    left join recognised as texts
        on
            md5(chunks.chunk_text) = texts.text_id
            and (retrieved.chunk_id is not null or relevance.chunk_id is not null)
    left join recognised as topics on md5(chunks.topic) = topics.text_id
)

select * from final
