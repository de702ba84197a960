-- One row per query: the query at the root of its chain of variants (itself when it has no parent).
with recursive queries as (
    select query_id, parent_query_id from {{ ref('stg_queries') }}
),

chain as (
    select
        query_id,
        query_id as root_query_id,
        parent_query_id as next_query_id,
        {{ array_of(['query_id']) }} as visited
    from queries
    union all
    select
        chain.query_id,
        chain.next_query_id as root_query_id,
        queries.parent_query_id as next_query_id,
        array_append(chain.visited, chain.next_query_id) as visited
    from chain
    left join queries on chain.next_query_id = queries.query_id
    -- a parent that is not in the set still names the family
    where chain.next_query_id is not null and not array_contains(chain.visited, chain.next_query_id)
),

rooted as (
    select
        query_id,
        max_by(
            case
                -- a circle has no root: the smallest id in it stands for it
                when array_contains(visited, next_query_id)
                    then {{ array_at('array_sort(' ~ array_from('visited', 'next_query_id') ~ ')', 1) }}
                else root_query_id
            end,
            {{ array_length('visited') }}
        ) as root_query_id
    from chain
    group by query_id
),

final as (
    select
        query_id,
        root_query_id,
        -- the root is a sibling of its variants; a query alone is no family
        root_query_id <> query_id or count(*) over (partition by root_query_id) > 1 as is_in_family
    from rooted
)

select * from final
