{{ rejected_records('base_spans', [
    'trace_id', 'span_id', 'parent_span_id', 'kind', 'name', 'started_at_text', 'ended_at_text', 'status'
]) }}
