-- The group is the logged one, else the root of the query with the variants that keep its meaning. A query on its own
-- forms no group.

with recursive queries as (
    select query_id, parent_query_id, query_group, variant_type from {{ ref('hcat', 'stg_queries') }}
),

variant_types as (
    select variant_type, meaning from {{ seed('test_variant_types') }}
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

in_families as (
    select
        query_id,
        root_query_id,
        -- The root belongs to the family of its variants. A query on its own is no family.
        root_query_id <> query_id or count(*) over (partition by root_query_id) > 1 as is_in_family
    from rooted
),

described as (
    select
        queries.query_id,
        in_families.root_query_id,
        in_families.is_in_family,
        queries.query_group as declared_group,
        roots.query_group as root_group,
        case
            when queries.variant_type = 'original' then 'original'
            else coalesce(variant_types.meaning, 'unknown')
        end as variant_meaning
    from queries
    inner join in_families on queries.query_id = in_families.query_id
    left join queries as roots on in_families.root_query_id = roots.query_id
    left join variant_types on queries.variant_type = variant_types.variant_type
),

grouped as (
    select
        query_id,
        root_query_id,
        is_in_family,
        variant_meaning,
        case
            when declared_group is not null then declared_group
            -- A variant of a query with a declared group asks for the same fact as that group.
            when variant_meaning in ('original', 'kept') then coalesce(root_group, root_query_id)
        end as query_group
    from described
),

final as (
    select
        {{ columns_except(['query_group']) }},
        if(count(*) over (partition by query_group) > 1, query_group, null) as query_group
    from grouped
)

select * from final
