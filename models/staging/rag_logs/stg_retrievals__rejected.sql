{{ rejected_records('base_retrievals', ['interaction_id', 'chunk_id', 'text', 'rank_text', 'retrieval_score_text']) }}
