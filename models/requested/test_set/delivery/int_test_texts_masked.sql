-- One row per distinct text of the test set, with its masked form (null if there is nothing to mask).
with recognisable as (
    select text_id, reading_key from {{ ref('hcat', 'int_test_texts_recognisable') }}
),

recognised as (
    select * from {{ ref('hcat', 'int_test_texts_recognised') }}
),

final as (
    select recognisable.text_id, recognised.masked_text
    from recognisable
    inner join recognised
        on recognisable.text_id = recognised.text_id and recognisable.reading_key = recognised.reading_key
)

select * from final
