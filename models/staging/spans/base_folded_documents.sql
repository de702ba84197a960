-- One row per document that traces name for their chunks, as a record of documents. Documents of the logs go first.
with documents as (
    select * from {{ ref('hcat', 'base_trace_documents') }}
    where chunk_id is not null and document_id is not null
),

landed as (
    select distinct document_id from {{ ref('hcat', 'landed_records') }}
    where entity = 'documents'
),

numbered as (
    select
        documents.*,
        row_number() over (
            partition by documents.document_id
            order by documents.landing_number, documents.source_file, documents.source_row, documents.record_id
        ) as occurrence
    from documents
    left join landed on documents.document_id = landed.document_id
    where landed.document_id is null
),

final as (
    select
        md5(concat_ws('|', 'document', document_id)) as record_id,
        source_file,
        document_id,
        title,
        md5(concat_ws('|', document_id, title)) as record_hash,
        null as read_error,
        source_row,
        landing_number
    from numbered
    where occurrence = 1
)

select * from final
