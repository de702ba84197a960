{{ config(enabled=is_on('drift')) }}
-- What the marts of drift promise. A row names the broken promise and what breaks it.
{{ promises() }}

{% call promise('drift_is_complete', ['fct_metric_drift']) %}
-- Every series has a row per test and window, tested or not. Every dimension has one row per window for its mix.
with week_dimensions as (
    select dimension from {{ ref('hcat', 'int_analysis_dimensions') }}
    where source = 'column' and field = 'asked_week'
),

monitored as (
    select segments.*
    from {{ ref('hcat', 'int_interaction_segments') }} as segments
    inner join {{ ref('hcat', 'fct_interactions') }} as interactions
        on segments.interaction_id = interactions.interaction_id and interactions.is_in_monitored_population
    left join week_dimensions on segments.dimension = week_dimensions.dimension
    where week_dimensions.dimension is null
),

series as (
    select distinct evaluations.metric_name, monitored.dimension, monitored.segment
    from {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
    inner join monitored on evaluations.interaction_id = monitored.interaction_id
),

dimensions as (
    select distinct dimension from monitored
    where dimension <> 'all'
),

windows as (
    select {{ explode(array_of([1, 3])) }} as window_weeks
),

expected as (
    select series.metric_name, series.dimension, series.segment, 'mean_shift' as test, windows.window_weeks
    from series
    cross join windows
    union all
    select null as metric_name, dimensions.dimension, 'all' as segment, 'mix_shift' as test, windows.window_weeks
    from dimensions
    cross join windows
),

found as (
    select metric_name, dimension, segment, test, window_weeks
    from {{ ref('hcat', 'fct_metric_drift') }}
)

{{ rows_that_differ("concat_ws(' ', metric_name, dimension, segment, test, cast(window_weeks as string))") }}
{% endcall %}

{% call promise('weeks_add_up_to_the_whole', ['fct_metric_weeks', 'fct_metric_drift']) %}
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
    inner join {{ ref('hcat', 'int_interaction_segments') }} as segments
        on evaluations.interaction_id = segments.interaction_id
    where
        evaluations.is_in_monitored_population
        and segments.dimension in (select dimension from {{ ref('hcat', 'fct_metric_weeks') }})
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
    where test = 'mean_shift' and window_weeks = 1
)

select
    concat_ws(' ', expected.metric_name, expected.dimension, expected.segment) as id,
    'weeks that do not add up, or other counts than those of drift' as problem
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
{% endcall %}

{% call promise('effective_scores_are_at_most_scores', ['fct_metric_weeks']) %}
-- Weights only lower the effective number.
select metric_week_id as id, 'a larger effective number than scores' as problem
from {{ ref('hcat', 'fct_metric_weeks') }}
where not coalesce(scored_effective <= count_scored + 0.000001, true)
{% endcall %}
