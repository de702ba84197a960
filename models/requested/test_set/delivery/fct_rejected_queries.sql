-- One row per candidate that did not enter the test set, with the reason.
with queries_checked as (
    select * from {{ ref('hcat', 'int_queries_checked') }}
    where check_status = 'rejected'
),

candidates as (
    select * from {{ ref('hcat', 'int_generated_candidates') }}
),

chunk_topics as (
    select chunk_id, topic_id from {{ ref('hcat', 'int_chunk_topics') }}
),

chunk_strata as (
    select chunk_id, stratum_id from {{ ref('hcat', 'int_chunk_strata') }}
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_test_texts_masked') }}
    where masked_text is not null
),

final as (
    select
        -- ids
        candidates.query_id,
        candidates.generation_key,
        candidates.chunk_id,
        chunk_topics.topic_id,
        chunk_strata.stratum_id,
        queries_checked.duplicate_of,

        -- strings
        queries_checked.reason,
        coalesce(masked_queries.masked_text, candidates.query_text) as query_text,
        coalesce(masked_references.masked_text, candidates.reference_answer) as reference_answer,
        candidates.query_type,
        candidates.expected_behaviour,
        candidates.generator,
        candidates.generator_revision,
        candidates.pattern,

        -- numerics
        queries_checked.count_words,
        queries_checked.copied_share,
        queries_checked.similarity_to_chunk,
        queries_checked.similarity_to_nearest
    from queries_checked
    inner join candidates on queries_checked.query_id = candidates.query_id
    left join chunk_topics
        on coalesce(candidates.chunk_id, {{ array_at('candidates.source_chunk_ids', 1) }}) = chunk_topics.chunk_id
    left join chunk_strata on candidates.chunk_id = chunk_strata.chunk_id
    left join masked as masked_queries on md5(candidates.query_text) = masked_queries.text_id
    left join masked as masked_references on md5(candidates.reference_answer) = masked_references.text_id
)

select * from final
