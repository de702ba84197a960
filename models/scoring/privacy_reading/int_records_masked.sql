with recognisable as (
    select text_id, reading_key from {{ ref('hcat', 'int_texts_recognisable') }}
    where is_record
),

final as (
    select recognisable.text_id, recognised.masked_text
    from recognisable
    inner join {{ ref('hcat', 'int_texts_recognised') }} as recognised
        on recognisable.text_id = recognised.text_id and recognisable.reading_key = recognised.reading_key
)

select * from final
