{{ config(materialized='table') }}
{%- set columns = [
    'query_id', 'parent_query_id', 'source_group', 'query_group', 'text', 'reference_answer', 'source_chunk_ids',
    'query_type', 'difficulty', 'answer_type', 'expected_behaviour', 'variant_type', 'sampling_weight', 'tags',
    'query_sentence_weights', 'reference_sentence_weights'
] %}
{%- set folded = ['query_id', 'text', 'reference_answer'] %}

with source as (
    {{ landed_and_folded('queries', columns, folded) | indent(4) }}
),

renamed as (
    select
        -- ids
        record_id,
        source_file,
        {{ text_or_null('query_id') }} as query_id,
        {{ text_or_null('parent_query_id') }} as parent_query_id,
        {{ text_or_null('source_group') }} as cluster_id,
        {{ text_or_null('query_group') }} as query_group,

        -- strings
        {{ text_or_null('text') }} as query_text,
        {{ text_or_null('reference_answer') }} as reference_answer,
        {{ text_or_null('query_type') }} as query_type,
        {{ text_or_null('difficulty') }} as difficulty,
        {{ text_or_null('answer_type') }} as answer_type,
        coalesce({{ text_or_null('expected_behaviour') }}, 'answer') as expected_behaviour,
        coalesce({{ text_or_null('variant_type') }}, 'original') as variant_type,
        {{ text_or_null('source_chunk_ids') }} as source_chunk_ids_text,
        {{ text_or_null('sampling_weight') }} as sampling_weight_text,
        {{ text_or_null('tags') }} as tags_text,
        case when {{ is_json_object(text_or_null('tags')) }} then {{ text_or_null('tags') }} end as tags,
        {{ text_or_null('query_sentence_weights') }} as query_sentence_weights_text,
        {{ text_or_null('reference_sentence_weights') }} as reference_sentence_weights_text,

        -- numerics
        {{ finite_or_null(text_or_null('sampling_weight'), '> 0') }} as sampling_weight,

        -- lists
        {{ json_texts(text_or_null('source_chunk_ids')) }} as source_chunk_ids,
        {{ sentence_weights(text_or_null('query_sentence_weights')) }} as query_sentence_weights,
        {{ sentence_weights(text_or_null('reference_sentence_weights')) }} as reference_sentence_weights,

        {{ columns_of_record() }}
    from source
),

checked as (
    select
        *,
        case
            when read_error is not null then read_error
            when query_id is null then 'query_id is missing or blank'
            when query_text is null then 'text is missing or blank'
            -- Read as its default, an unknown word would turn right refusals into failures: it costs the record.
            when expected_behaviour not in ('answer', 'refuse')
                then 'expected_behaviour is neither answer nor refuse: ' || left(expected_behaviour, 80)
        end as check_failure
    from renamed
),

{{ number_records(['query_id'], [
    field_fault('source_chunk_ids', 'a JSON list of ids'),
    field_fault('sampling_weight', 'a finite number above 0'),
    field_fault('tags', 'a JSON object'),
    weights_fault('query_sentence_weights'),
    weights_fault('reference_sentence_weights')
]) }}

select * from final
