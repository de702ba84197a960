-- Every planned variant has a row: it was made, or the row gives the reason why not. Every variant has a parent and the
-- labels of the seed. The numbers of a pair have no gap.
{{ config(enabled=var('hcat_test_set'), tags=['test_set']) }}

with test_variants as (
    select * from {{ ref('hcat', 'fct_test_variants') }}
),

missing as (
    select 'planned and not there' as problem, planned.parent_query_id, planned.variant_type
    from {{ ref('hcat', 'int_variants_planned') }} as planned
    anti join test_variants
        on planned.parent_query_id = test_variants.parent_query_id
            and planned.variant_type = test_variants.variant_type
),

orphans as (
    select 'no such query of the test set' as problem, test_variants.parent_query_id, test_variants.variant_type
    from test_variants
    anti join {{ ref('hcat', 'fct_test_queries') }} as test_queries
        on test_variants.parent_query_id = test_queries.query_id
),

mislabelled as (
    select 'not the meaning of the seed' as problem, test_variants.parent_query_id, test_variants.variant_type
    from test_variants
    anti join {{ seed('test_variant_types') }} as variant_types
        on test_variants.variant_type = variant_types.variant_type
            and test_variants.meaning = variant_types.meaning
            and test_variants.rate = variant_types.rate
            and variant_types.is_enabled
),

unlike_parent as (
    select 'asks what its parent asks' as problem, test_variants.parent_query_id, test_variants.variant_type
    from test_variants
    inner join {{ ref('hcat', 'fct_test_queries') }} as test_queries
        on test_variants.parent_query_id = test_queries.query_id
    where test_variants.variant_status = 'made' and trim(test_variants.query_text) = trim(test_queries.query_text)
),

gaps as (
    select 'a side of the pair is missing' as problem, parent_query_id, variant_type
    from test_variants
    group by parent_query_id, variant_type
    having max(variant_number) <> count(*)
)

select * from missing
union all
select * from orphans
union all
select * from mislabelled
union all
select * from unlike_parent
union all
select * from gaps
