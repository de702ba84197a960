-- One row per distinct text in use, with its masked form (null where nothing is to be hidden) and the places found.
with recognisable as (
    select text_hash, reading_key, text, is_tagged from {{ ref('int_texts_recognisable') }}
),

recognised as (
    select * from {{ ref('int_texts_recognised') }}
),

final as (
    select
        recognisable.text_hash,
        recognisable.reading_key,
        recognisable.text,
        recognised.masked_text,
        recognised.spans,
        recognisable.is_tagged
    from recognisable
    inner join recognised
        on recognisable.text_hash = recognised.text_hash and recognisable.reading_key = recognised.reading_key
)

select * from final
