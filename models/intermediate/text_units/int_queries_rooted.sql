-- One row per query: the query at the root of its chain of variants (itself when it has no parent).
with recursive queries as (
    select query_id, parent_query_id from {{ ref('stg_queries') }}
),

chain as (
    select query_id, query_id as root_query_id, parent_query_id as next_query_id, 0 as depth
    from queries
    union all
    select
        chain.query_id,
        chain.next_query_id as root_query_id,
        queries.parent_query_id as next_query_id,
        chain.depth + 1 as depth
    from chain
    left join queries on chain.next_query_id = queries.query_id
    -- a parent that is not in the set still names the family; ten steps stop a circular chain
    where chain.next_query_id is not null and chain.depth < 10
),

final as (
    select query_id, max_by(root_query_id, depth) as root_query_id
    from chain
    group by query_id
)

select * from final
