{{ config(materialized='table') }}

with passages as (
    -- The contexts of all interactions at once exceed the memory at scale.
    select * from {{ ref('hcat', 'int_interaction_passages') }}
    where {{ is_in_bucket('interaction_id') }}
),

texts as (
    select text_id, reading_key, spans from {{ ref('hcat', 'int_texts_masked') }}
    where {{ array_length('spans') }} > 0
),

answers as (
    select
        passages.interaction_id,
        passages.passage_text as answer,
        texts.text_id,
        texts.reading_key,
        texts.spans
    from passages
    inner join texts on md5(passages.passage_text) = texts.text_id
    where passages.role = 'answer'
),

surroundings as (
    select
        passages.interaction_id,
        max(case when passages.role = 'query' then passages.passage_text end) as query,
        {{ ordered_array(
            'passages.passage_text', 'passages.position, passages.passage_text', "passages.role = 'context'"
        ) }} as contexts
    from passages
    where passages.interaction_id in (select answers.interaction_id from answers)
    group by passages.interaction_id
),

final as (
    select
        answers.interaction_id,
        md5(
            concat_ws(
                '|', answers.text_id, answers.reading_key, md5(coalesce(surroundings.query, '')),
                md5(coalesce({{ array_join('surroundings.contexts', '\n') }}, ''))
            )
        ) as exposure_key,
        answers.answer,
        surroundings.query,
        surroundings.contexts,
        answers.spans
    from answers
    inner join surroundings on answers.interaction_id = surroundings.interaction_id
)

select * from final
