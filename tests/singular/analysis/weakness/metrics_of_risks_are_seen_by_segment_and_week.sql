{{ config(enabled=is_on('drift')) }}
-- Every metric that a listed risk names has rows by segment where the release population has scores of it, and drift
-- rows where the monitored one has.
with risks as (
    select metric_name from {{ seed('risks') }}
    union distinct
    select control_metric as metric_name from {{ seed('risks') }}
),

scored as (
    select
        evaluations.metric_name,
        bool_or(evaluations.is_in_release_population) as is_released,
        bool_or(evaluations.is_in_monitored_population) as is_monitored
    from {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
    inner join risks on evaluations.metric_name = risks.metric_name
    where evaluations.raw_score is not null
    group by evaluations.metric_name
),

by_segment as (
    select
        metric_name,
        count(distinct dimension) as count_dimensions
    from {{ ref('hcat', 'fct_marginal_weaknesses') }}
    where count_scored > 0
    group by metric_name
),

by_week as (
    select distinct metric_name
    from {{ ref('hcat', 'fct_metric_drift') }}
    where test = 'mean_shift'
)

select
    scored.metric_name,
    case
        when scored.is_monitored and by_week.metric_name is null then 'no row in fct_metric_drift'
        else 'no segment beside the whole in fct_marginal_weaknesses'
    end as problem
from scored
left join by_segment on scored.metric_name = by_segment.metric_name
left join by_week on scored.metric_name = by_week.metric_name
where
    (scored.is_monitored and by_week.metric_name is null)
    or (scored.is_released and coalesce(by_segment.count_dimensions, 0) < 2)
