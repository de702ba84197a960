-- Metrics without a language model are compared on the same interactions.
{{ config(materialized='table') }}

with labels as (
    select * from {{ ref('hcat', 'int_ratings_adjudicated') }}
    where label is not null
),

metrics as (
    select metric_name, direction from {{ ref('hcat', 'int_metric_catalog') }}
),

decisions as (
    select metric_name, threshold from {{ ref('hcat', 'int_threshold_decisions') }}
),

requests as (
    select * from {{ ref('hcat', 'int_judge_requests') }}
    where request_status = 'wanted'
),

interactions as (
    select interaction_id, cluster_id from {{ ref('hcat', 'int_interactions') }}
),

against_people as (
    select
        evaluations.interaction_id,
        evaluations.metric_name,
        'people' as reference,
        evaluations.raw_score,
        labels.label,
        labels.scale_point
    from {{ seed('judge_targets') }} as targets
    inner join labels on targets.criterion = labels.criterion
    inner join {{ ref('hcat', 'int_judge_sample') }} as judge_sample
        on labels.interaction_id = judge_sample.interaction_id
    inner join {{ ref('hcat', 'int_evaluations_completed') }} as evaluations
        on
            labels.interaction_id = evaluations.interaction_id
            and targets.metric_name = split_part(evaluations.metric_name, '@', 1)
),

against_rule as (
    select
        requests.interaction_id,
        requests.metric_name,
        'rule' as reference,
        verdicts.verdict_score as raw_score,
        (verdicts.rule_status = 'correct')::integer as label,
        null::integer as scale_point
    from requests
    inner join {{ ref('hcat', 'int_judge_verdicts') }} as verdicts on requests.judge_key = verdicts.judge_key
    -- answers that the rule leaves undecided are left to a person or a model
    where verdicts.rule_status in ('correct', 'incorrect')
),

compared as (
    select * from against_people
    union all
    select * from against_rule
),

final as (
    select
        compared.interaction_id,
        compared.metric_name,
        compared.reference,
        interactions.cluster_id,
        case metrics.direction when 'lower_is_better' then -compared.raw_score else compared.raw_score end
            as oriented_score,
        case
            when metrics.direction = 'lower_is_better' then (compared.raw_score <= decisions.threshold)::integer
            else (compared.raw_score >= decisions.threshold)::integer
        end as metric_label,
        compared.label,
        -- only a rubric uses the scale points of the raters
        case when contains(compared.metric_name, 'rubric_llm') then compared.raw_score::integer end as metric_point,
        compared.scale_point
    from compared
    inner join metrics on compared.metric_name = metrics.metric_name
    left join decisions on compared.metric_name = decisions.metric_name
    inner join interactions on compared.interaction_id = interactions.interaction_id
)

select * from final
