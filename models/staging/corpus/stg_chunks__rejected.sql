{{ rejected_records('base_chunks', ['chunk_id', 'document_id', 'topic', 'chunk_text', 'chunk_index_text']) }}
