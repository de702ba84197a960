-- This model must never become a table, because it holds the personal data itself. A model that reads it bucket by
-- bucket pays for the texts of a bucket alone: the engine does not move the condition of a reader below the lists.
with passages as (
    select interaction_id, passage_text from {{ ref('hcat', 'int_interaction_passages') }}
    where {{ is_in_bucket('interaction_id') }}
),

texts as (
    select text_id, text, spans from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
),

spans as (
    select passages.interaction_id, texts.text, {{ explode('texts.spans') }} as span
    from passages
    inner join texts on md5(passages.passage_text) = texts.text_id
),

cut as (
    select
        interaction_id,
        -- Sentences have single blanks for any white space.
        {{ replace_pattern("substring(text, span['start'] + 1, span['end'] - span['start'])", '\\s+', ' ') }} as value,
        span['masked'] as masked
    from spans
    where span['masked'] is not null
),

final as (
    select
        interaction_id,
        -- Longer values come first, so that masking a part of a value does not break up the whole.
        array_agg(
            distinct {{ record({'length': '0 - length(value)', 'value': 'value', 'masked': 'masked'}) }}
        ) as private_values
    from cut
    group by interaction_id
)

select interaction_id, array_sort(private_values) as private_values
from final
