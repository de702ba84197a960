-- One row per document that a trace used, as a record of retrievals.
with documents as (
    select * from {{ ref('hcat', 'base_trace_documents') }}
),

final as (
    select
        md5(concat_ws('|', 'retrieval', trace_id, rank)) as record_id,
        source_file,
        interaction_id,
        chunk_id,
        text,
        '' || rank as rank,
        retrieval_score,
        md5(concat_ws('|', interaction_id, rank, chunk_id, text, retrieval_score)) as record_hash,
        null as read_error,
        source_row,
        landing_number
    from documents
)

select * from final
