-- int_test_variants has the text that is asked.
with masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_test_texts_masked') }}
    where masked_text is not null
),

final as (
    select
        test_variants.{{ columns_except(['query_text', 'reference_answer', 'detail']) }},
        coalesce(masked_queries.masked_text, test_variants.query_text) as query_text,
        coalesce(masked_references.masked_text, test_variants.reference_answer) as reference_answer,
        coalesce(masked_details.masked_text, test_variants.detail) as detail
    from {{ ref('hcat', 'int_test_variants') }} as test_variants
    left join masked as masked_queries on md5(test_variants.query_text) = masked_queries.text_id
    left join masked as masked_details on md5(test_variants.detail) = masked_details.text_id
    left join masked as masked_references on md5(test_variants.reference_answer) = masked_references.text_id
)

select * from final
