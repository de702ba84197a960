with chunks as (
    select * from {{ ref('hcat', 'int_chunks_counted') }}
),

documents as (
    select document_id, title from {{ ref('hcat', 'dim_documents') }}
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
        chunks.count_interactions::integer as count_interactions,
        chunks.count_queries::integer as count_queries
    from chunks
    left join documents on chunks.document_id = documents.document_id
    left join recognised as texts
        on md5(chunks.chunk_text) = texts.text_id and chunks.count_interactions + chunks.count_queries > 0
    left join recognised as topics on md5(chunks.topic) = topics.text_id
)

select * from final
