-- One row per landed interaction record, with typed columns, and with the reason when it cannot be used.
{%- set columns = [
    'interaction_id', 'run_id', 'query_id', 'application', 'application_version', 'language', 'customer_group',
    'query_text', 'answer', 'tags', 'sample_index', 'asked_at', 'conversation_id', 'turn_index',
    'query_sentence_weights', 'answer_sentence_weights'
] %}
{%- set folded = [
    'interaction_id', 'query_id', 'application', 'application_version', 'query_text', 'answer', 'tags', 'asked_at',
    'conversation_id'
] %}

with source as (
    {{ landed_and_folded('interactions', columns, folded) | indent(4) }}
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
        {{ text_or_null('sample_index') }} as sample_index_text,
        {{ text_or_null('asked_at') }} as asked_at_text,
        {{ text_or_null('turn_index') }} as turn_index_text,
        {{ text_or_null('query_sentence_weights') }} as query_sentence_weights_text,
        {{ text_or_null('answer_sentence_weights') }} as answer_sentence_weights_text,

        -- numerics
        {{ integer_or_null(text_or_null('sample_index')) }} as sample_index,
        {{ integer_or_null(text_or_null('turn_index')) }} as turn_index,

        -- lists
        {{ json_numbers(text_or_null('query_sentence_weights')) }} as query_sentence_weights,
        {{ json_numbers(text_or_null('answer_sentence_weights')) }} as answer_sentence_weights,

        -- timestamps
        {{ logged_timestamp(text_or_null('asked_at')) }} as asked_at,

        -- record
        record_hash,
        read_error,
        unread_record,
        source_row,
        landing_number
    from source
),

checked as (
    select
        *,
        case
            when read_error is not null then read_error
            when interaction_id is null then 'interaction_id is missing or blank'
            when asked_at_text is not null and asked_at is null
                then 'asked_at is not an ISO 8601 timestamp: ' || left(asked_at_text, 80)
            when asked_at > timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}'
                + interval '{{ var("hcat_future_tolerance_hours") }} hours'
                then 'asked_at lies in the future: ' || left(asked_at_text, 80)
            when sample_index_text is not null and sample_index is null
                then 'sample_index is not an integer: ' || left(sample_index_text, 80)
            when turn_index_text is not null and coalesce(turn_index, -1) < 0
                then 'turn_index is not an integer from 0: ' || left(turn_index_text, 80)
            when tags_text is not null and not {{ is_json_object('tags_text') }}
                then 'tags is not a JSON object: ' || left(tags_text, 80)
            when query_sentence_weights_text is not null and not {{ are_weights('query_sentence_weights') }}
                then 'query_sentence_weights is not a JSON list of finite numbers of at least 0: '
                || left(query_sentence_weights_text, 80)
            when answer_sentence_weights_text is not null and not {{ are_weights('answer_sentence_weights') }}
                then 'answer_sentence_weights is not a JSON list of finite numbers of at least 0: '
                || left(answer_sentence_weights_text, 80)
        end as check_failure
    from renamed
),

{{ number_records(['interaction_id']) }}

select * from final
