{{ config(materialized='table') }}
{%- set columns = [
    'interaction_id', 'run_id', 'query_id', 'application', 'application_version', 'language', 'customer_group',
    'query_text', 'answer', 'tags', 'sample_index', 'asked_at', 'conversation_id', 'turn_index',
    'query_sentence_weights', 'answer_sentence_weights', 'count_retrieved', 'population'
] %}
{#- speed and cost of the answer: column -> what it must be -#}
{%- set whole, faults = 'an integer from 0', [] %}
{%- set costs = {
    'latency_seconds': 'a number from 0', 'count_input_tokens': whole, 'count_output_tokens': whole, 'cost': 'a number from 0',
    'language_model': none, 'prompt_version': none
} %}
{%- set folded = [
    'interaction_id', 'query_id', 'application', 'application_version', 'query_text', 'answer', 'tags', 'asked_at',
    'conversation_id', 'count_retrieved'
] %}

with source as (
    {{ landed_and_folded('interactions', columns + costs | list, folded + costs | list) | indent(4) }}
),

renamed as (
    select
        -- ids
        record_id,
        source_file,
        {{ text_or_null('interaction_id') }} as interaction_id,
        {{ text_or_null('run_id') }} as run_id,
        {{ text_or_null('query_id') }} as query_id,
        {{ text_or_null('conversation_id') }} as conversation_id,

        -- strings
        {{ text_or_null('application') }} as application,
        {{ text_or_null('application_version') }} as application_version,
        {{ text_or_null('language') }} as language,
        {{ text_or_null('customer_group') }} as customer_group,
        {{ text_or_null('query_text') }} as query_text,
        answer,
        {{ text_or_null('tags') }} as tags_text,
        case when {{ is_json_object(text_or_null('tags')) }} then {{ text_or_null('tags') }} end as tags,
        {{ text_or_null('population') }} as population_text,
        case
            when lower({{ text_or_null('population') }}) in ('production', 'test_set', 'variant')
                then lower({{ text_or_null('population') }})
        end as population,
        {{ text_or_null('sample_index') }} as sample_index_text,
        {{ text_or_null('asked_at') }} as asked_at_text,
        {{ text_or_null('turn_index') }} as turn_index_text,
        {{ text_or_null('count_retrieved') }} as count_retrieved_text,
        {{ text_or_null('query_sentence_weights') }} as query_sentence_weights_text,
        {{ text_or_null('answer_sentence_weights') }} as answer_sentence_weights_text,

        -- numerics
        {{ integer_or_null(text_or_null('sample_index')) }} as sample_index,
        {{ integer_or_null(text_or_null('turn_index'), least=0) }} as turn_index,
        -- passages that the log says were retrieved: 0 = the retriever found nothing, null = the log says nothing
        {{ integer_or_null(text_or_null('count_retrieved'), least=0) }} as count_retrieved,
        -- a cost that cannot be read costs the record nothing
        {%- for column, what in costs.items() %}
        {{ text_or_null(column) }} as {{ column ~ ('_text' if what else '') }},
        {%- endfor %}
        {%- for column, what in costs.items() if what %}
        {%- do faults.append(field_fault(column, what)) %}
        {%- set is_whole, text = what == whole, text_or_null(column) %}
        {{ integer_or_null(text, least=0) if is_whole else finite_or_null(text, '>= 0') }} as {{ column }},
        {%- endfor %}

        -- lists
        {{ sentence_weights(text_or_null('query_sentence_weights')) }} as query_sentence_weights,
        {{ sentence_weights(text_or_null('answer_sentence_weights')) }} as answer_sentence_weights,

        -- timestamps
        {{ logged_timestamp(text_or_null('asked_at')) }} as asked_at,

        {{ columns_of_record() }}
    from source
),

checked as (
    select
        *,
        coalesce(
            read_error,
            case when interaction_id is null then 'interaction_id is missing or blank' end,
            -- The time is optional, and yet one that cannot be used costs the record. Without it the interaction would
            -- leave drift, and its conversation would change its order, both without a word.
            {{ time_fault('asked_at') }}
        ) as check_failure
    from renamed
),

{{ number_records(['interaction_id'], [
    field_fault('population', 'production, test_set or variant'),
    field_fault('sample_index', 'an integer'),
    field_fault('turn_index', 'an integer from 0'),
    field_fault('count_retrieved', 'an integer from 0'),
    field_fault('tags', 'a JSON object'),
    weights_fault('query_sentence_weights'),
    weights_fault('answer_sentence_weights')
] + faults) }}

select * from final
