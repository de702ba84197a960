select
    record_id,
    source_file,
    interaction_id,
    run_id,
    query_id,
    conversation_id,
    application,
    application_version,
    language,
    customer_group,
    query_text,
    answer,
    tags,
    sample_index,
    turn_index,
    count_retrieved,
    query_sentence_weights,
    answer_sentence_weights,
    asked_at,
    source_row,
    landing_number
from {{ ref('hcat', 'base_interactions') }}
where record_status = 'staged'
