-- One row per (primary metric, dimension, segment, week), with the mean, its error by cluster, the share that fails,
-- and the range of the metric.
{{ config(materialized='table') }}

with evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
),

segments as (
    select * from {{ ref('hcat', 'int_segments_monitored') }}
),

weeks as (
    select * from {{ ref('hcat', 'int_interaction_weeks') }}
),

metrics as (
    select * from {{ ref('hcat', 'int_metric_catalog') }}
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

summed as (
    select
        metric_name,
        dimension,
        segment,
        week_start,
        week_status,
        sum(count_interactions) as count_interactions,
        sum(count_scored) as count_scored,
        sum(case when count_scored > 0 then 1 else 0 end) as count_clusters,
        sum(count_scored * count_scored)::double as sum_squared_counts,
        sum(sum_billionths)::double as sum_scores,
        sum(sum_billionths * sum_billionths)::double as sum_squared_sums,
        sum(count_scored * sum_billionths)::double as sum_products,
        sum(count_decided) as count_decided,
        sum(count_decided * count_decided)::double as sum_squared_decided,
        sum(count_failing) as count_failing
    from summed_by_cluster
    group by metric_name, dimension, segment, week_start, week_status
),

averaged as (
    select
        summed.*,
        summed.sum_scores / nullif(summed.count_scored, 0) as mean_billionths,
        metrics.range_low::double as range_low,
        metrics.range_high::double as range_high
    from summed
    left join metrics on summed.metric_name = metrics.metric_name
),

final as (
    select
        metric_name,
        dimension,
        segment,
        week_start,
        week_status,
        count_interactions,
        count_scored,
        count_clusters,
        count_scored * count_scored / nullif(sum_squared_counts, 0) as scored_effective,
        mean_billionths / 1e9 as mean_score,
        -- sum over clusters of (their sum - their count x mean)^2, linearised: siblings count together
        case
            when count_clusters > 1
                then sqrt(
                    greatest(
                        (sum_squared_sums - mean_billionths * sum_products)
                        - mean_billionths * (sum_products - mean_billionths * sum_squared_counts),
                        0
                    ) * count_clusters / (count_clusters - 1)
                ) / count_scored / 1e9
        end as standard_error,
        count_decided,
        count_failing,
        count_failing / nullif(count_decided, 0) as share_failing,
        count_decided * count_decided / nullif(sum_squared_decided, 0) as decided_effective,
        range_low,
        range_high
    from averaged
)

select * from final
