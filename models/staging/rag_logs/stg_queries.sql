select
    record_id,
    source_file,
    query_id,
    parent_query_id,
    cluster_id,
    query_group,
    query_text,
    reference_answer,
    query_type,
    difficulty,
    answer_type,
    expected_behaviour,
    variant_type,
    tags,
    source_chunk_ids,
    query_sentence_weights,
    reference_sentence_weights,
    sampling_weight,
    source_row,
    landing_number
from {{ ref('hcat', 'base_queries') }}
where record_status = 'staged'
