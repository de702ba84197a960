-- One row per distinct text in use, with its masked form (null where nothing needs masking) and the positions of
-- personal data in it.
with recognisable as (
    select text_id, reading_key, text, is_tagged from {{ ref('hcat', 'int_texts_recognisable') }}
),

recognised as (
    select * from {{ ref('hcat', 'int_texts_recognised') }}
),

final as (
    select
        recognisable.text_id,
        recognisable.reading_key,
        recognisable.text,
        recognised.masked_text,
        recognised.spans,
        recognisable.is_tagged
    from recognisable
    inner join recognised
        on recognisable.text_id = recognised.text_id and recognisable.reading_key = recognised.reading_key
)

select * from final
