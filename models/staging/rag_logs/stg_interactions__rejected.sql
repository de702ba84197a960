{{ rejected_records('base_interactions', [
    'interaction_id', 'run_id', 'query_id', 'application', 'application_version', 'language', 'customer_group',
    'query_text', 'answer', 'tags_text', 'sample_index_text', 'asked_at_text',
    'conversation_id', 'turn_index_text'
]) }}
