-- One row per planned variant of a query of the test set, with masked text. int_test_variants has the text that is
-- asked.
with test_variants as (
    select * from {{ ref('hcat', 'int_test_variants') }}
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_test_texts_masked') }}
    where masked_text is not null
),

final as (
    select
        test_variants.query_id,
        test_variants.parent_query_id,
        test_variants.variant_type,
        test_variants.meaning,
        test_variants.variant_status,
        test_variants.equivalence_status,
        coalesce(masked_queries.masked_text, test_variants.query_text) as query_text,
        coalesce(masked_references.masked_text, test_variants.reference_answer) as reference_answer,
        test_variants.query_type,
        test_variants.difficulty,
        test_variants.answer_type,
        test_variants.expected_behaviour,
        test_variants.language,
        test_variants.topic_id,
        coalesce(masked_details.masked_text, test_variants.detail) as detail,
        test_variants.item_id,
        test_variants.canary,
        test_variants.source_chunk_ids,
        test_variants.variant_number,
        test_variants.random_seed,
        test_variants.variant_revision,
        test_variants.rate,
        test_variants.entailment_from_parent,
        test_variants.entailment_to_parent,
        test_variants.sampling_weight
    from test_variants
    left join masked as masked_queries on md5(test_variants.query_text) = masked_queries.text_id
    left join masked as masked_details on md5(test_variants.detail) = masked_details.text_id
    left join masked as masked_references on md5(test_variants.reference_answer) = masked_references.text_id
)

select * from final
