-- One row per distinct text that is embedded: sentences, and windows of texts compared whole.
{{ config(materialized='table') }}

with sentences_and_windows as (
    select text_id, sentence_text as encoded_text from {{ ref('int_passages_split') }}
    union all
    select text_id, window_text as encoded_text from {{ ref('int_passage_windows') }}
),

final as (
    select text_id, min(encoded_text) as encoded_text, length(min(encoded_text)) as count_characters
    from sentences_and_windows
    group by text_id
)

select * from final
