{{ config(enabled=is_on('retrieval') and is_on('robustness')) }}
-- Every answer of the query groups that are not robust: the query, the answer and the module that failed.
with query_groups as (
    select * from {{ ref('hcat', 'fct_robustness_groups') }}
    where hypothesis = 'all' and group_type = 'non_robust'
),

answers as (
    select * from {{ ref('hcat', 'fct_answer_correctness') }}
),

interactions as (
    select * from {{ ref('hcat', 'fct_interactions') }}
),

causes as (
    select interaction_id, max(failure_cause) as failure_cause
    from {{ ref('hcat', 'fct_retrieval_quality') }}
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
        causes.failure_cause,
        answers.interaction_id
    from query_groups
    inner join answers
        on query_groups.system = answers.system and query_groups.query_group = answers.query_group
    inner join interactions on answers.interaction_id = interactions.interaction_id
    left join causes on answers.interaction_id = causes.interaction_id
    order by query_groups.share_correct, query_groups.system, query_groups.query_group, answers.correctness_status
)

select * from final
