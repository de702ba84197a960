with documents as (
    select document_id, title, topic from {{ ref('hcat', 'stg_documents') }}
),

chunks as (
    select
        document_id,
        min(topic) as topic,
        count(*) as count_chunks,
        sum(length(chunk_text)) as count_characters
    from {{ ref('hcat', 'stg_chunks') }}
    where document_id is not null
    group by document_id
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
),

final as (
    select
        coalesce(documents.document_id, chunks.document_id) as document_id,
        coalesce(titles.masked_text, documents.title) as title,
        coalesce(topics.masked_text, documents.topic, chunks.topic) as topic,
        coalesce(chunks.count_chunks, 0)::integer as count_chunks,
        coalesce(chunks.count_characters, 0)::bigint as count_characters,
        -- Chunks may name a document that no documents file describes.
        documents.document_id is not null as is_described
    from documents
    full outer join chunks on documents.document_id = chunks.document_id
    left join masked as titles on md5(documents.title) = titles.text_id
    left join masked as topics on md5(coalesce(documents.topic, chunks.topic)) = topics.text_id
)

select * from final
