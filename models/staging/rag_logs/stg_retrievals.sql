select
    record_id,
    source_file,
    interaction_id,
    chunk_id,
    text,
    rank,
    retrieval_score,
    completeness_weight,
    source_row,
    landing_number
from {{ ref('hcat', 'base_retrievals') }}
where record_status = 'staged'
