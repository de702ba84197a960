-- One row per distinct window text, with the key of the encoder of this build. It is the content key of an embedding.
with windows as (
    select
        text_id,
        min(window_text) as encoded_text
    from {{ ref('hcat', 'int_chunk_windows') }}
    group by text_id
)

select
    windows.text_id,
    encoder.encoder_key,
    windows.encoded_text,
    length(windows.encoded_text) as count_characters
from windows
cross join {{ ref('hcat', 'int_encoder') }} as encoder
