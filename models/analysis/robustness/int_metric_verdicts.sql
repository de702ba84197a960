-- One row per (interaction of known correctness, metric that needs no reference), with the true correctness and, if a
-- threshold is decided, the verdict of the metric.
with evaluations as (
    select * from {{ ref('hcat', 'int_evaluations_decided') }}
),

metrics as (
    select metric_name
    from {{ ref('hcat', 'int_metric_catalog') }}
    where
        coalesce(requires, '') not like '%reference%'
        and coalesce(requires, '') not like '%relevance%'
        and coalesce(requires, '') like '%answer%'
        -- expected behaviour is a kind of reference, and harm to people does not show whether an answer is true
        and family not in ('behaviour', 'safety', 'privacy')
),

decided as (
    select distinct metric_name from {{ seed('threshold_decisions') }}
),

answers as (
    select * from {{ ref('hcat', 'int_answers_correct') }}
    where expected_behaviour = 'answer'
),

final as (
    select
        answers.system as system_id,
        evaluations.metric_name as metric,
        coalesce(answers.query_group, answers.cluster_id) as cluster_id,
        answers.interaction_id,
        not evaluations.is_failing as is_accepted,
        answers.is_correct,
        decided.metric_name is not null as has_threshold
    from answers
    inner join evaluations on answers.interaction_id = evaluations.interaction_id
    inner join metrics on evaluations.metric_name = metrics.metric_name
    left join decided on evaluations.metric_name = decided.metric_name
)

select * from final
