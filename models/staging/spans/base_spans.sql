-- One row per landed span, with typed columns, and with the reason when it cannot be used.
{{ config(materialized='table') }}
with source as (
    select * from {{ ref('hcat', 'landed_records') }}
    where entity = 'spans'
),

renamed as (
    select
        -- ids
        record_id,
        source_file,
        {{ text_or_null('trace_id') }} as trace_id,
        {{ text_or_null('span_id') }} as span_id,
        {{ text_or_null('parent_span_id') }} as parent_span_id,

        -- strings
        {{ text_or_null('kind') }} as kind,
        {{ text_or_null('name') }} as name,
        lower({{ text_or_null('status') }}) as status,
        attributes,
        {{ text_or_null('started_at') }} as started_at_text,
        {{ text_or_null('ended_at') }} as ended_at_text,

        -- timestamps
        {{ utc_timestamp(text_or_null('started_at')) }} as started_at,
        {{ utc_timestamp(text_or_null('ended_at')) }} as ended_at,

        -- record
        record_hash,
        read_error,
        unread_record,
        read_note,
        source_row,
        landing_number
    from source
),

timed as (
    select
        *,
        {{ time_fault('started_at') }} as started_at_fault,
        {{ time_fault('ended_at') }} as ended_at_fault
    from renamed
),

-- Attributes are long and stay where they landed: the order of records does not carry them. A span without a time that
-- can be used keeps its place in its trace. Where the time of the root counts, its interaction tells.
checked as (
    select
        {{ columns_except(['attributes', 'started_at', 'ended_at']) }},
        case when started_at_fault is null then started_at end as started_at,
        case when ended_at_fault is null then ended_at end as ended_at,
        -- a zero time stands for an end that has not come; a time that cannot be read is an end
        coalesce(ended_at >= timestamp '{{ var("hcat_earliest_time") }}', ended_at_text is not null) as has_ended,
        case
            when read_error is not null then read_error
            when trace_id is null then 'trace_id is missing or blank'
            when span_id is null then 'span_id is missing or blank'
            when attributes is not null and not {{ is_json_object('attributes') }}
                then 'attributes is not a JSON object: ' || left(attributes, 80)
        end as check_failure
    from timed
),

{{ number_records(['trace_id', 'span_id'], ['started_at_fault', 'ended_at_fault']) }}

select * from final
