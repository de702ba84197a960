-- One row per distinct text to embed: sentences, windows of texts that are compared as a whole, and texts of the safety
-- seeds. The text and the key of this build's encoder form the content key of an embedding.
{{ config(materialized='table') }}

with passages as (
    -- The split table keeps passages of earlier rules and logs. Only passages in use are embedded.
    select passage_id from {{ ref('hcat', 'int_passages') }}
),

sentences_and_windows as (
    select passages_split.text_id, passages_split.sentence_text as encoded_text
    from {{ ref('hcat', 'int_passages_split') }} as passages_split
    inner join passages on passages_split.passage_id = passages.passage_id
    union all
    select text_id, window_text as encoded_text from {{ ref('hcat', 'int_passage_windows') }}
    {%- if is_on('safety') %}
    union all
    select text_id, encoded_text from {{ ref('hcat', 'int_safety_texts') }}
    {%- endif %}
),

texts as (
    select text_id, min(encoded_text) as encoded_text
    from sentences_and_windows
    group by text_id
),

final as (
    select
        texts.text_id,
        encoder.encoder_key,
        texts.encoded_text,
        length(texts.encoded_text) as count_characters
    from texts
    cross join {{ ref('hcat', 'int_encoder') }} as encoder
)

select * from final
