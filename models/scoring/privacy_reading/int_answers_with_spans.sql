-- One row per interaction whose answer holds personal data, with the query and contexts in which these values are
-- searched.
with passages as (
    select * from {{ ref('hcat', 'int_interaction_passages') }}
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

-- One group by interaction: a filter on interactions then reaches the lists of passages before they are made.
surrounded as (
    select
        passages.interaction_id,
        any_value(answers.answer) as answer,
        any_value(answers.text_id) as text_id,
        any_value(answers.reading_key) as reading_key,
        any_value(answers.spans) as spans,
        max(case when passages.role = 'query' then passages.passage_text end) as query,
        {{ ordered_array(
            'passages.passage_text', 'passages.position, passages.passage_text', "passages.role = 'context'"
        ) }} as contexts
    from passages
    inner join answers on passages.interaction_id = answers.interaction_id
    group by passages.interaction_id
),

final as (
    select
        interaction_id,
        md5(
            concat_ws(
                '|', text_id, reading_key, md5(coalesce(query, '')),
                md5(coalesce({{ array_join('contexts', '\n') }}, ''))
            )
        ) as exposure_key,
        answer,
        query,
        contexts,
        spans
    from surrounded
)

select * from final
