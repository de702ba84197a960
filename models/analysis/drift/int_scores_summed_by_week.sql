-- One row per (primary metric, dimension, segment, week), with the exact sums of which the mean, its error by cluster
-- and the share that fails are made. `hcat prune` keeps these rows of the weeks that it deletes. If only interactions
-- changed, weeks of which nothing changed keep their rows.
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    full_refresh=writes_all_interactions(),
    pre_hook="{{ delete_changed('week_start', 'int_weeks_keyed') }}"
) }}

with evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
),

segments as (
    select * from {{ ref('hcat', 'int_segments_monitored') }}
),

weeks as (
    select * from {{ ref('hcat', 'int_interaction_weeks') }}
    -- without a time there is no week that could be closed
    where week_start is null or {{ is_changed('week_start', 'week_start', 'int_weeks_keyed') }}
),

-- whole billionths, because a sum of doubles depends on the order in which an engine adds
summed_by_cluster as (
    select
        evaluations.metric_name,
        segments.dimension,
        segments.segment,
        weeks.week_start,
        weeks.week_status,
        weeks.cluster_id,
        count(*) as count_interactions,
        count(evaluations.raw_score) as count_scored,
        coalesce(sum({{ in_billionths('evaluations.raw_score') }}), 0) as sum_billionths,
        count(evaluations.is_failing) as count_decided,
        coalesce(sum(evaluations.is_failing::integer), 0) as count_failing
    from evaluations
    inner join segments on evaluations.interaction_id = segments.interaction_id
    inner join weeks on evaluations.interaction_id = weeks.interaction_id
    group by
        evaluations.metric_name, segments.dimension, segments.segment, weeks.week_start, weeks.week_status,
        weeks.cluster_id
),

final as (
    select
        metric_name,
        dimension,
        segment,
        week_status,
        sum(count_interactions)::bigint as count_interactions,
        sum(count_scored)::bigint as count_scored,
        sum(case when count_scored > 0 then 1 else 0 end)::bigint as count_clusters,
        sum(count_scored * count_scored)::double as sum_squared_counts,
        sum(sum_billionths)::double as sum_scores,
        sum(sum_billionths * sum_billionths)::double as sum_squared_sums,
        sum(count_scored * sum_billionths)::double as sum_products,
        sum(count_decided)::bigint as count_decided,
        sum(count_decided * count_decided)::double as sum_squared_decided,
        sum(count_failing)::bigint as count_failing,
        week_start
    from summed_by_cluster
    group by metric_name, dimension, segment, week_start, week_status
)

select * from final
