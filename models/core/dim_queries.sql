with queries as (
    select * from {{ ref('hcat', 'stg_queries') }}
),

queries_rooted as (
    select * from {{ ref('hcat', 'int_queries_rooted') }}
),

queries_grouped as (
    select query_id, query_group from {{ ref('hcat', 'int_queries_grouped') }}
),

relevance as (
    select query_id, count(*) as count_relevant_chunks
    from {{ ref('hcat', 'int_query_relevance') }}
    where grade > 0
    group by query_id
),

masked as (
    select * from {{ ref('hcat', 'int_queries_masked') }}
),

final as (
    select
        queries.query_id,
        queries_rooted.root_query_id,
        queries.parent_query_id,
        queries_grouped.query_group,
        masked.query_text,
        masked.reference_answer,
        queries.query_type,
        queries.difficulty,
        queries.answer_type,
        queries.expected_behaviour,
        queries.variant_type,
        masked.tags,
        queries.source_chunk_ids,
        coalesce(relevance.count_relevant_chunks, 0)::integer as count_relevant_chunks,
        queries.sampling_weight
    from queries
    inner join queries_rooted on queries.query_id = queries_rooted.query_id
    inner join queries_grouped on queries.query_id = queries_grouped.query_id
    inner join masked on queries.query_id = masked.query_id
    left join relevance on queries.query_id = relevance.query_id
)

select * from final
