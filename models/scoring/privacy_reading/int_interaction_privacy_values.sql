-- One row per interaction that has personal data in any of its texts, with the values to mask in its sentences.
-- This model must never become a table, because it holds the personal data itself.
with passages as (
    select * from {{ ref('hcat', 'int_interaction_passages') }}
),

spans as (
    select text_id, text, {{ explode('spans') }} as span
    from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
),

cut as (
    select distinct
        text_id,
        -- Sentences have single blanks for any white space.
        {{ replace_pattern("substring(text, span['start'] + 1, span['end'] - span['start'])", '\\s+', ' ') }} as value,
        span['masked'] as masked
    from spans
    where span['masked'] is not null
),

final as (
    select
        passages.interaction_id,
        -- Longer values come first, so that masking a part of a value does not break up the whole.
        array_agg(
            distinct {{ record({'length': '0 - length(cut.value)', 'value': 'cut.value', 'masked': 'cut.masked'}) }}
        ) as private_values
    from passages
    inner join cut on md5(passages.passage_text) = cut.text_id
    group by passages.interaction_id
)

select interaction_id, array_sort(private_values) as private_values
from final
