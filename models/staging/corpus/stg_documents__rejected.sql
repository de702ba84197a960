{{ rejected_records('base_documents', ['document_id', 'title', 'topic', 'document_text']) }}
