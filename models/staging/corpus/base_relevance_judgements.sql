{{ config(materialized='table') }}
with source as (
    select * from {{ ref('hcat', 'landed_records') }}
    where entity = 'relevance_judgements'
),

renamed as (
    select
        -- ids
        record_id,
        source_file,
        {{ text_or_null('query_id') }} as query_id,
        {{ text_or_null('chunk_id') }} as chunk_id,

        -- strings
        {{ named(text_or_null('judge')) }} as assessor,
        {{ text_or_null('grade') }} as grade_text,

        -- numerics
        try_cast({{ text_or_null('grade') }} as double) as grade,

        {{ columns_of_record() }}
    from source
),

checked as (
    select
        *,
        case
            when read_error is not null then read_error
            when query_id is null then 'query_id is missing or blank'
            when chunk_id is null then 'chunk_id is missing or blank'
            when grade is null or not {{ is_finite('grade') }}
                then 'grade is not a finite number: ' || left(coalesce(grade_text, 'null'), 80)
        end as check_failure
    from renamed
),

{{ number_records(['query_id', 'chunk_id', 'assessor']) }}

select * from final
