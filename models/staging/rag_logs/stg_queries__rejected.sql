{{ rejected_records('base_queries', [
    'query_id', 'parent_query_id', 'cluster_id', 'query_group', 'query_text', 'reference_answer', 'query_type',
    'difficulty', 'answer_type', 'expected_behaviour', 'variant_type', 'source_chunk_ids_text', 'sampling_weight_text',
    'tags_text'
]) }}
