-- What a document of the knowledge base publishes is neither masked nor listed.
with recognisable as (
    select text_id, reading_key, text, is_tagged from {{ ref('hcat', 'int_texts_recognisable') }}
    where not is_record
),

final as (
    select
        recognisable.text_id,
        coalesce(public.reading_key, recognisable.reading_key) as reading_key,
        recognisable.text,
        case when public.text_id is null then recognised.masked_text else public.masked_text end as masked_text,
        case when public.text_id is null then recognised.spans else public.spans end as spans,
        recognisable.is_tagged
    from recognisable
    inner join {{ ref('hcat', 'int_texts_recognised') }} as recognised
        on recognisable.text_id = recognised.text_id and recognisable.reading_key = recognised.reading_key
    left join {{ ref('hcat', 'int_texts_with_public_values') }} as public on recognisable.text_id = public.text_id
)

select * from final
