-- Every answer of the query groups that are not robust: what was asked, what was said, what was retrieved.
with query_groups as (
    select * from {{ ref('fct_robustness_groups') }}
    where hypothesis = 'all' and group_type = 'non_robust'
),

answers as (
    select * from {{ ref('fct_answer_correctness') }}
),

interactions as (
    select * from {{ ref('fct_interactions') }}
),

retrievals as (
    select interaction_id, string_agg(coalesce(chunk_id, 'unnamed'), ', ' order by rank) as retrieved
    from {{ ref('stg_retrievals') }}
    group by interaction_id
),

final as (
    select
        query_groups.system,
        query_groups.query_group,
        query_groups.share_correct,
        answers.correctness_status,
        answers.faulty_module,
        answers.reason,
        interactions.query_text,
        interactions.answer,
        interactions.reference_answer,
        retrievals.retrieved,
        answers.interaction_id
    from query_groups
    inner join answers
        on query_groups.system = answers.system and query_groups.query_group = answers.query_group
    inner join interactions on answers.interaction_id = interactions.interaction_id
    left join retrievals on answers.interaction_id = retrievals.interaction_id
    order by query_groups.share_correct, query_groups.system, query_groups.query_group, answers.correctness_status
)

select * from final
