with agreement as (
    select * from {{ ref('hcat', 'int_judge_agreement') }}
),

requests as (
    select * from {{ ref('hcat', 'int_judge_requests') }}
    where request_status = 'wanted'
),

statistics as (
    select {{ explode(array_of(["'percent_agreement'", "'cohen_kappa'", "'ranking_accuracy'", "'paired_accuracy'"])) }}
        as statistic
),

compared_metrics as (
    select
        metrics.metric_name,
        metrics.family,
        metrics.direction,
        metrics.threshold,
        metrics.decision_status,
        targets.criterion
    from {{ ref('hcat', 'dim_metrics') }} as metrics
    left join {{ seed('judge_targets') }} as targets
        on split_part(metrics.metric_name, '@', 1) = targets.metric_name
    where metrics.family = 'judged' or targets.metric_name is not null
),

-- every metric against people, and whatever else was measured
figures as (
    select compared_metrics.metric_name, 'people' as reference, statistics.statistic
    from compared_metrics
    cross join statistics
    union
    select metric_name, reference, statistic from agreement
),

outcomes as (
    select
        evaluations.metric_name,
        count(*) as count_interactions,
        count(evaluations.raw_score) as count_scored,
        count(case when evaluations.score_status = 'failed' then 1 end) as count_failed
    from {{ ref('hcat', 'int_evaluations_completed') }} as evaluations
    inner join {{ ref('hcat', 'int_judge_sample') }} as judge_sample
        on evaluations.interaction_id = judge_sample.interaction_id
    group by evaluations.metric_name
),

undecided as (
    select
        requests.metric_name,
        count(case when verdicts.verdict_status = 'no_verdict' then 1 end) as count_no_verdict
    from requests
    inner join {{ ref('hcat', 'int_judge_verdicts') }} as verdicts on requests.judge_key = verdicts.judge_key
    group by requests.metric_name
),

-- a question that serves several interactions is paid once
keys as (
    select distinct metric_name, judge_key from requests
),

costs as (
    select
        keys.metric_name,
        count(case when calls.count_attempts > 0 then 1 end) as count_calls,
        sum(calls.prompt_tokens) as prompt_tokens,
        sum(calls.completion_tokens) as completion_tokens,
        sum(calls.seconds) as seconds
    from keys
    inner join {{ ref('hcat', 'fct_judge_calls') }} as calls on keys.judge_key = calls.judge_key
    group by keys.metric_name
),

final as (
    select
        -- ids
        md5(concat_ws('|', figures.metric_name, figures.reference, figures.statistic)) as judge_agreement_id,

        -- strings
        figures.metric_name,
        case when compared_metrics.family = 'judged' then 'language_model' else 'no_language_model' end as method,
        case when figures.reference = 'people' then compared_metrics.criterion end as criterion,
        figures.reference,
        figures.statistic,
        coalesce(
            agreement.status, case when compared_metrics.criterion is null then 'no_criterion' else 'no_labels' end
        ) as status,
        coalesce(agreement.interval_status, 'no_estimate') as interval_status,
        compared_metrics.decision_status,
        case when compared_metrics.family = 'judged' then service.language_model end as language_model,

        -- numerics
        agreement.value,
        agreement.low,
        agreement.high,
        compared_metrics.threshold,
        coalesce(agreement.count_labelled, 0) as count_labelled,
        coalesce(agreement.count_compared, 0) as count_compared,
        coalesce(agreement.count_clusters, 0) as count_clusters,
        coalesce(outcomes.count_interactions, 0) as count_interactions,
        coalesce(outcomes.count_scored, 0) as count_scored,
        coalesce(outcomes.count_failed, 0) as count_failed,
        coalesce(undecided.count_no_verdict, 0) as count_no_verdict,
        coalesce(costs.count_calls, 0) as count_calls,
        coalesce(costs.prompt_tokens, 0)::bigint as prompt_tokens,
        coalesce(costs.completion_tokens, 0)::bigint as completion_tokens,
        coalesce(costs.seconds, 0.0) as seconds
    from figures
    inner join compared_metrics on figures.metric_name = compared_metrics.metric_name
    left join {{ ref('hcat', 'int_judge_service') }} as service
        on figures.metric_name = split_part(figures.metric_name, '@', 1) || service.metric_suffix
    left join agreement
        on
            figures.metric_name = agreement.metric_name
            and figures.reference = agreement.reference
            and figures.statistic = agreement.statistic
    left join outcomes on figures.metric_name = outcomes.metric_name
    left join undecided on figures.metric_name = undecided.metric_name
    left join costs on figures.metric_name = costs.metric_name
)

select * from final
