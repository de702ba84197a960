select
    record_id,
    source_file,
    document_id,
    title,
    topic,
    document_text,
    source_row,
    landing_number
from {{ ref('hcat', 'base_documents') }}
where record_status = 'staged'
