-- One row per chunk that traces log with its text and its document, as a record of chunks. Chunks of the logs go first.
with documents as (
    select * from {{ ref('hcat', 'base_trace_documents') }}
    where chunk_id is not null and document_id is not null and text is not null
),

landed as (
    select distinct chunk_id from {{ ref('hcat', 'landed_records') }}
    where entity = 'chunks'
),

numbered as (
    select
        documents.*,
        row_number() over (
            partition by documents.chunk_id, documents.document_id, documents.text
            order by documents.landing_number, documents.source_file, documents.source_row, documents.record_id
        ) as occurrence
    from documents
    left join landed on documents.chunk_id = landed.chunk_id
    where landed.chunk_id is null
),

final as (
    select
        md5(concat_ws('|', 'chunk', chunk_id, document_id, text)) as record_id,
        source_file,
        chunk_id,
        document_id,
        text,
        md5(concat_ws('|', chunk_id, document_id, text)) as record_hash,
        null as read_error,
        source_row,
        landing_number
    from numbered
    where occurrence = 1
)

select * from final
