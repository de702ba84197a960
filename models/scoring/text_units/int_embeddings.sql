{{ config(materialized='view') }}
select
    texts.text_id,
    texts.scoring_key,
    texts.encoded_text,
    embedded.embedding,
    embedded.was_truncated
from {{ ref('hcat', 'int_texts') }} as texts
inner join {{ ref('hcat', 'int_texts_embedded') }} as embedded
    on texts.text_id = embedded.text_id and texts.encoder_key = embedded.encoder_key
