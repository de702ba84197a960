-- Only the envelope of a span is read here: its attributes were read where its trace was folded.
with source as (
    select * from {{ ref('hcat', 'base_folded_traces') }}
    where entity = 'spans'
),

renamed as (
    select
        record_id, source_file, trace_id, span_id, parent_span_id, kind, name, status,
        started_at as started_at_text,
        ended_at as ended_at_text,
        {{ utc_timestamp('started_at') }} as started_at,
        {{ utc_timestamp('ended_at') }} as ended_at,
        record_status, reject_reason, read_error, unread_record, read_note, source_row,
        landing_number
    from source
),

-- a span without a time that can be used keeps its place in its trace
final as (
    select
        *,
        {{ array_compact(array_of([time_fault('started_at'), time_fault('ended_at')])) }} as field_faults
    from renamed
)

select * from final
