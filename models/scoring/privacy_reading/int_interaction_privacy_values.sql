-- One row per interaction that has personal data in any of its texts, with the values that sentences of it hide.
-- Never a table: these are the words themselves.
with passages as (
    select * from {{ ref('int_interaction_passages') }}
),

spans as (
    select text_id, text, {{ explode('spans') }} as span
    from {{ ref('int_texts_masked') }}
    where masked_text is not null
),

cut as (
    select distinct
        text_id,
        -- sentences have their white space folded
        {{ replace_pattern("substring(text, span['start'] + 1, span['end'] - span['start'])", '\\s+', ' ') }} as value,
        span['masked'] as masked
    from spans
    where span['masked'] is not null
),

final as (
    select
        passages.interaction_id,
        -- the longer first, so that a part of a value does not break it up
        array_agg(
            distinct {{ record({'length': '0 - length(cut.value)', 'value': 'cut.value', 'masked': 'cut.masked'}) }}
        ) as private_values
    from passages
    inner join cut on md5(passages.passage_text) = cut.text_id
    group by passages.interaction_id
)

select interaction_id, array_sort(private_values) as private_values
from final
