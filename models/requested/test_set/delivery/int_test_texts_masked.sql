-- What a document publishes is not masked. A test set needs no logs, so that it reads its documents itself.
with recognisable as (
    select text_id, reading_key from {{ ref('hcat', 'int_test_texts_recognisable') }}
),

with_public_values as (
    {{ texts_with_public_values(
        ref('hcat', 'int_test_texts_recognisable'),
        ref('hcat', 'int_test_texts_recognised'),
        public_values(ref('hcat', 'int_test_texts_recognisable'), ref('hcat', 'int_test_texts_recognised'))
    ) }}
),

final as (
    select
        recognisable.text_id,
        case when public.text_id is null then recognised.masked_text else public.masked_text end as masked_text
    from recognisable
    inner join {{ ref('hcat', 'int_test_texts_recognised') }} as recognised
        on recognisable.text_id = recognised.text_id and recognisable.reading_key = recognised.reading_key
    left join with_public_values as public on recognisable.text_id = public.text_id
)

select * from final
