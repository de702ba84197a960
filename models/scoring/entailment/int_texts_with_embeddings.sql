-- One row per distinct text with its vector, from which the evidence is chosen.
{{ config(materialized='view') }}
select
    texts.text_id,
    texts.encoded_text,
    embeddings.embedding
from {{ ref('hcat', 'int_texts') }} as texts
inner join {{ ref('hcat', 'int_embeddings') }} as embeddings on texts.text_id = embeddings.text_id
