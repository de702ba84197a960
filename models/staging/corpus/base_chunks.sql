{{ config(materialized='table') }}
{%- set columns = ['chunk_id', 'document_id', 'topic', 'text', 'chunk_index'] %}
{%- set folded = ['chunk_id', 'document_id', 'text'] %}

with source as (
    {{ landed_and_folded('chunks', columns, folded) | indent(4) }}
),

renamed as (
    select
        -- ids
        record_id,
        source_file,
        {{ text_or_null('chunk_id') }} as chunk_id,
        {{ text_or_null('document_id') }} as document_id,

        -- strings
        {{ text_or_null('topic') }} as topic,
        {{ text_or_null('text') }} as chunk_text,
        {{ text_or_null('chunk_index') }} as chunk_index_text,

        -- numerics
        {{ integer_or_null(text_or_null('chunk_index')) }} as chunk_index,

        {{ columns_of_record() }}
    from source
),

checked as (
    select
        *,
        case
            when read_error is not null then read_error
            when chunk_id is null then 'chunk_id is missing or blank'
            when chunk_text is null then 'text is missing or blank'
        end as check_failure
    from renamed
),

{{ number_records(['chunk_id'], [field_fault('chunk_index', 'an integer')]) }}

select * from final
