with retrieved as (
    select chunk_id, count(distinct interaction_id) as count_interactions
    from {{ ref('hcat', 'stg_retrievals') }}
    where chunk_id is not null
    group by chunk_id
),

relevance as (
    select chunk_id, count(distinct query_id) as count_queries
    from {{ ref('hcat', 'int_query_relevance') }}
    where grade > 0
    group by chunk_id
),

final as (
    select
        chunks.*,
        coalesce(retrieved.count_interactions, 0) as count_interactions,
        coalesce(relevance.count_queries, 0) as count_queries
    from {{ ref('hcat', 'stg_chunks') }} as chunks
    left join retrieved on chunks.chunk_id = retrieved.chunk_id
    left join relevance on chunks.chunk_id = relevance.chunk_id
)

select * from final
