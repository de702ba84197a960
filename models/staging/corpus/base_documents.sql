{{ config(materialized='table') }}
{%- set columns = ['document_id', 'title', 'topic', 'text'] %}
{%- set folded = ['document_id', 'title'] %}

with source as (
    {{ landed_and_folded('documents', columns, folded) | indent(4) }}
),

renamed as (
    select
        -- ids
        record_id,
        source_file,
        {{ text_or_null('document_id') }} as document_id,

        -- strings
        {{ text_or_null('title') }} as title,
        {{ text_or_null('topic') }} as topic,
        {{ text_or_null('text') }} as document_text,

        {{ columns_of_record() }}
    from source
),

checked as (
    select
        *,
        case
            when read_error is not null then read_error
            when document_id is null then 'document_id is missing or blank'
        end as check_failure
    from renamed
),

{{ number_records(['document_id']) }}

select * from final
