-- The text and the key of this build's encoder form the content key of an embedding. Sentences of queries and answers
-- and toxicity probes have the key of this build's text classifiers, because their tone is classified.
{{ config(materialized='table') }}

with passages as (
    -- The split table keeps passages of earlier rules and logs. Only passages in use are embedded.
    select passage_id, bool_or(role in ('query', 'answer')) as has_tone
    from {{ ref('hcat', 'int_interaction_passages') }}
    group by passage_id
),

encoder as (
    select encoder_key from {{ ref('hcat', 'int_encoder') }}
),

classifiers as (
    select max(scoring_key) as scoring_key
    from {{ ref_if_on('safety', 'int_text_classifiers', 'scoring_key') }}
),

sentences_and_windows as (
    select passages_split.text_id, passages_split.sentence_text as encoded_text, passages.has_tone
    from {{ ref('hcat', 'int_passages_split') }} as passages_split
    inner join passages on passages_split.passage_id = passages.passage_id
    union all
    select text_id, window_text as encoded_text, false as has_tone from {{ ref('hcat', 'int_passage_windows') }}
    {%- if is_on('safety') %}
    union all
    select text_id, encoded_text, purpose = 'probe' as has_tone from {{ ref('hcat', 'int_safety_texts') }}
    {%- endif %}
),

texts as (
    select
        text_id,
        min(encoded_text) as encoded_text,
        bool_or(has_tone) as has_tone
    from sentences_and_windows
    group by text_id
),

final as (
    select
        texts.text_id,
        encoder.encoder_key,
        case when texts.has_tone then classifiers.scoring_key end as scoring_key,
        texts.encoded_text,
        length(texts.encoded_text) as count_characters
    from texts
    cross join encoder
    cross join classifiers
)

select * from final
