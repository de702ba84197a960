{{ config(enabled=is_on('drift')) }}
-- Weeks split the interactions of every series, including those without a time, and beside them those of pruned weeks.
-- Drift counts the interactions that it leaves out.
with by_week as (
    select
        metric_name,
        dimension,
        segment,
        sum(count_interactions) as count_interactions,
        sum(count_scored) as count_scored,
        sum(case when week_status = 'no_timestamp' then count_scored else 0 end) as count_without_week,
        sum(case when week_status = 'incomplete' then count_scored else 0 end) as count_incomplete_week
    from {{ ref('hcat', 'fct_metric_weeks') }}
    group by metric_name, dimension, segment
),

left_now as (
    select
        evaluations.metric_name,
        segments.dimension,
        segments.segment,
        count(*) as count_interactions,
        count(evaluations.raw_score) as count_scored
    from {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
    inner join {{ ref('hcat', 'int_segments_monitored') }} as segments
        on evaluations.interaction_id = segments.interaction_id
    group by evaluations.metric_name, segments.dimension, segments.segment
),

pruned as (
    select
        metric_name,
        dimension,
        segment,
        sum(count_interactions) as count_interactions,
        sum(count_scored) as count_scored
    from {{ ref('hcat', 'int_weeks_pruned') }}
    group by metric_name, dimension, segment
),

expected as (
    select
        left_now.metric_name,
        left_now.dimension,
        left_now.segment,
        left_now.count_interactions + coalesce(pruned.count_interactions, 0) as count_interactions,
        left_now.count_scored + coalesce(pruned.count_scored, 0) as count_scored
    from left_now
    left join pruned
        on
            left_now.metric_name = pruned.metric_name
            and left_now.dimension = pruned.dimension
            and left_now.segment = pruned.segment
),

drift as (
    select metric_name, dimension, segment, count_without_week, count_incomplete_week
    from {{ ref('hcat', 'fct_metric_drift') }}
    where test = 'mean_shift' and window_weeks = {{ var('hcat_drift_window_weeks')[0] }}
)

select expected.*, by_week.count_scored as count_in_weeks, drift.count_without_week, drift.count_incomplete_week
from expected
left join by_week
    on
        expected.metric_name = by_week.metric_name
        and expected.dimension = by_week.dimension
        and expected.segment = by_week.segment
left join drift
    on
        expected.metric_name = drift.metric_name
        and expected.dimension = drift.dimension
        and expected.segment = drift.segment
where
    by_week.count_interactions is distinct from expected.count_interactions
    or by_week.count_scored is distinct from expected.count_scored
    or by_week.count_without_week is distinct from drift.count_without_week
    or by_week.count_incomplete_week is distinct from drift.count_incomplete_week
