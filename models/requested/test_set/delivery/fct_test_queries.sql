-- int_test_queries has the text that is asked.
with masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_test_texts_masked') }}
    where masked_text is not null
),

final as (
    select
        test_queries.{{ columns_except(['source_group', 'query_text', 'reference_answer']) }},
        coalesce(masked_queries.masked_text, test_queries.query_text) as query_text,
        coalesce(masked_references.masked_text, test_queries.reference_answer) as reference_answer
    from {{ ref('hcat', 'int_test_queries') }} as test_queries
    left join masked as masked_queries on md5(test_queries.query_text) = masked_queries.text_id
    left join masked as masked_references on md5(test_queries.reference_answer) = masked_references.text_id
)

select * from final
