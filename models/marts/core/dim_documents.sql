with documents as (
    select document_id, title, topic from {{ ref('stg_documents') }}
),

chunks as (
    select
        document_id,
        min(topic) as topic,
        count(*) as count_chunks,
        sum(length(chunk_text)) as count_characters
    from {{ ref('stg_chunks') }}
    where document_id is not null
    group by document_id
),

final as (
    select
        coalesce(documents.document_id, chunks.document_id) as document_id,
        documents.title,
        coalesce(documents.topic, chunks.topic) as topic,
        coalesce(chunks.count_chunks, 0)::integer as count_chunks,
        coalesce(chunks.count_characters, 0)::bigint as count_characters,
        -- chunks may name a document that no documents file describes
        documents.document_id is not null as is_described
    from documents
    full outer join chunks on documents.document_id = chunks.document_id
)

select * from final
