-- One row per query with the query at the root of its chain of variants (itself when it has no parent).
{{ config(materialized='view') }}
with recursive queries as (
    select query_id, parent_query_id from {{ ref('hcat', 'stg_queries') }}
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
    -- A parent that is not among the queries still names the family.
    where chain.next_query_id is not null and not array_contains(chain.visited, chain.next_query_id)
),

rooted as (
    select
        query_id,
        max_by(
            case
                -- A cycle has no root, so its smallest id takes that place.
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
        -- The root belongs to the family of its variants. A query on its own is no family.
        root_query_id <> query_id or count(*) over (partition by root_query_id) > 1 as is_in_family
    from rooted
)

select * from final
