select
    record_id,
    source_file,
    chunk_id,
    document_id,
    topic,
    chunk_text,
    chunk_index,
    source_row,
    landing_number
from {{ ref('hcat', 'base_chunks') }}
where record_status = 'staged'
