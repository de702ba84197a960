-- One row per distinct text with the key of the encoder of this build: the content key of an embedding.
select
    texts.text_id,
    encoder.encoder_key,
    texts.encoded_text,
    texts.count_characters
from {{ ref('int_texts') }} as texts
cross join {{ ref('int_encoder') }} as encoder
