-- One row per query of the test set, with masked text. int_test_queries has the text that is asked.
with test_queries as (
    select * from {{ ref('hcat', 'int_test_queries') }}
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_test_texts_masked') }}
    where masked_text is not null
),

final as (
    select
        -- ids
        test_queries.query_id,
        test_queries.generation_key,
        test_queries.chunk_id,
        test_queries.topic_id,
        test_queries.stratum_id,

        -- strings
        coalesce(masked_queries.masked_text, test_queries.query_text) as query_text,
        coalesce(masked_references.masked_text, test_queries.reference_answer) as reference_answer,
        test_queries.query_type,
        test_queries.difficulty,
        test_queries.answer_type,
        test_queries.expected_behaviour,
        test_queries.language,
        test_queries.generator,
        test_queries.generator_revision,
        test_queries.pattern,
        test_queries.weighting_status,

        -- lists
        test_queries.source_chunk_ids,

        -- numerics
        test_queries.inclusion_probability,
        test_queries.sampling_weight,
        test_queries.similarity_to_chunk,
        test_queries.copied_share
    from test_queries
    left join masked as masked_queries on md5(test_queries.query_text) = masked_queries.text_id
    left join masked as masked_references on md5(test_queries.reference_answer) = masked_references.text_id
)

select * from final
