with groups_typed as (
    select
        *,
        case
            when coalesce(group_type, '') <> 'non_robust' then null
            when count_retrieval_errors > count_language_model_errors then 'retrieval'
            when count_retrieval_errors < count_language_model_errors then 'language_model'
            when count_retrieval_errors > 0 then 'both'
            else 'unknown'
        end as module_at_fault
    from {{ ref('hcat', 'int_robustness_measured') }}
    where part = 'groups'
),

queries as (
    -- the root query represents its group; in a declared group the first query does
    select
        query_group,
        min_by(query_text, {{ record({'is_variant': "variant_type <> 'original'", 'query_id': 'query_id'}) }})
            as example_query
    from {{ ref('hcat', 'dim_queries') }}
    where query_group is not null
    group by query_group
)

select {{ columns_of_contract({
    'robustness_group_id': 'md5(concat_ws(chr(31), system_id, hypothesis, side, group_id))',
    'query_group': 'group_id',
    'system': 'system_id',
    'faulty_module': 'module_at_fault',
    'example_query': 'queries.example_query',
}, of='groups_typed') }}
from groups_typed
left join queries on groups_typed.group_id = queries.query_group
