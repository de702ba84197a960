with groups_typed as (
    select * from {{ ref('hcat', 'int_robustness_measured') }}
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
),

final as (
    select
        -- ids
        md5(
            concat_ws(
                chr(31), groups_typed.system_id, groups_typed.hypothesis, groups_typed.side, groups_typed.group_id
            )
        ) as robustness_group_id,
        groups_typed.group_id as query_group,

        -- strings
        groups_typed.system_id as system,
        groups_typed.hypothesis,
        groups_typed.side,
        groups_typed.group_status,
        groups_typed.group_type,
        case
            when coalesce(groups_typed.group_type, '') <> 'non_robust' then null
            when groups_typed.count_retrieval_errors > groups_typed.count_language_model_errors then 'retrieval'
            when groups_typed.count_retrieval_errors < groups_typed.count_language_model_errors then 'language_model'
            when groups_typed.count_retrieval_errors > 0 then 'both'
            else 'unknown'
        end as faulty_module,
        queries.example_query,

        -- numerics
        groups_typed.count_queries,
        groups_typed.count_answers,
        groups_typed.count_correct,
        groups_typed.count_undecided,
        groups_typed.count_retrieval_errors,
        groups_typed.count_language_model_errors,
        groups_typed.count_unattributed_errors,
        groups_typed.share_correct,

        -- booleans
        groups_typed.is_gap_on_every_side
    from groups_typed
    left join queries on groups_typed.group_id = queries.query_group
)

select * from final
