select
    record_id,
    source_file,
    query_id,
    chunk_id,
    assessor,
    grade,
    source_row,
    landing_number
from {{ ref('hcat', 'base_relevance_judgements') }}
where record_status = 'staged'
