select
    record_id,
    source_file,
    trace_id,
    span_id,
    parent_span_id,
    kind,
    name,
    status,
    started_at,
    ended_at,
    source_row,
    landing_number
from {{ ref('hcat', 'base_spans') }}
where record_status = 'staged'
