{{ rejected_records('base_relevance_judgements', ['query_id', 'chunk_id', 'assessor', 'grade_text']) }}
