-- One row per (primary metric, dimension, segment, week), with the mean, its error by cluster, the share that fails,
-- and the range of the metric. A pruned week has its kept sums. Interactions of such a week that come later are added,
-- and count as clusters of their own.
{{ config(materialized='table') }}
{%- set counts = ['count_interactions', 'count_scored', 'count_clusters', 'count_decided', 'count_failing'] %}
{%- set sums = ['sum_squared_counts', 'sum_scores', 'sum_squared_sums', 'sum_products', 'sum_squared_decided'] %}

with summed_now as (
    select * from {{ ref('hcat', 'int_scores_summed_by_week') }}
),

pruned as (
    select * from {{ ref('hcat', 'int_weeks_pruned') }}
),

metrics as (
    select * from {{ ref('hcat', 'int_metric_catalog') }}
),

united as (
    {%- for relation in ['summed_now', 'pruned'] %}
    select
        metric_name,
        dimension,
        segment,
        week_start,
        week_status,
        {{ (counts + sums) | join(', ') }},
        {{ 'deletion_number' if relation == 'pruned' else '0' }} as deletion_number
    from {{ relation }}
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

summed as (
    select
        metric_name,
        dimension,
        segment,
        week_start,
        week_status,
        {%- for count in counts %}
        sum({{ count }})::bigint as {{ count }},
        {%- endfor %}
        {%- for sum in sums %}
        {{ ordered_sum(sum, 'deletion_number') }} as {{ sum }},
        {%- endfor %}
        max(deletion_number) > 0 as is_pruned
    from united
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
        range_high,
        is_pruned
    from averaged
)

select * from final
