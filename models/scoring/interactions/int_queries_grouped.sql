-- One row per query with the group of queries that ask for the same fact in other words. The group is the logged one,
-- else the root of the query with the variants that keep its meaning. A query on its own forms no group.
{{ config(materialized='view') }}
with queries as (
    select * from {{ ref('hcat', 'stg_queries') }}
),

queries_rooted as (
    select * from {{ ref('hcat', 'int_queries_rooted') }}
),

variant_types as (
    select variant_type, meaning from {{ seed('test_variant_types') }}
),

described as (
    select
        queries.query_id,
        queries_rooted.root_query_id,
        queries.query_group as declared_group,
        roots.query_group as root_group,
        case
            when queries.variant_type = 'original' then 'original'
            else coalesce(variant_types.meaning, 'unknown')
        end as variant_meaning
    from queries
    inner join queries_rooted on queries.query_id = queries_rooted.query_id
    left join queries as roots on queries_rooted.root_query_id = roots.query_id
    left join variant_types on queries.variant_type = variant_types.variant_type
),

grouped as (
    select
        query_id,
        root_query_id,
        variant_meaning,
        case
            when declared_group is not null then 'declared'
            when variant_meaning in ('original', 'kept') then 'family'
        end as group_source,
        case
            when declared_group is not null then declared_group
            -- A variant of a query with a declared group asks for the same fact as that group.
            when variant_meaning in ('original', 'kept') then coalesce(root_group, root_query_id)
        end as query_group
    from described
),

counted as (
    select
        *,
        count(*) over (partition by query_group) as count_queries
    from grouped
),

final as (
    select
        query_id,
        root_query_id,
        if(count_queries > 1, query_group, null) as query_group,
        if(count_queries > 1, group_source, null) as group_source,
        variant_meaning
    from counted
)

select * from final
