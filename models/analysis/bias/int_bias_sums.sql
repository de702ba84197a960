-- If a system has more clusters than blocks, several whole clusters form a block. They then change sides together,
-- which keeps the test valid and bounds its cost.
{{ config(materialized='table') }}
{%- set count_blocks = 1000 %}

with scores as (
    select * from {{ ref('hcat', 'int_bias_scores') }}
),

cells as (
    select * from {{ ref('hcat', 'int_bias_cells') }}
),

system_clusters as (
    select system, count(distinct cluster_id) as count_clusters
    from scores
    group by system
),

numbered as (
    select distinct
        scores.system, scores.cluster_id, system_clusters.count_clusters,
        {{ share_of_hash("'bias|' || scores.cluster_id") }} as share
    from scores
    inner join system_clusters on scores.system = system_clusters.system
),

clusters as (
    select
        system, cluster_id,
        case
            when count_clusters > {{ count_blocks }}
                then 'block ' || floor(share * {{ count_blocks }})::integer
            else cluster_id
        end as cluster
    from numbered
),

paired as (
    select
        cells.bias_gap_id, clusters.cluster,
        {{ exact_sum('differences.first_score') }} as first_sum, count(*) as first_count,
        {{ exact_sum('differences.second_score') }} as second_sum, count(*) as second_count
    from cells
    inner join {{ ref('hcat', 'int_counterfactual_differences') }} as differences
        on
            cells.system = differences.system
            and cells.attribute = differences.dimension
            and cells.metric_name = differences.metric_name
    inner join clusters
        on differences.system = clusters.system and differences.cluster_id = clusters.cluster_id
    where cells.design = 'counterfactual'
    group by cells.bias_gap_id, clusters.cluster
),

-- traffic is what users ask, or the test set that stands for them; never both, and no variant
grouped as (
    select
        scores.system, scores.metric_name, scores.customer_group, clusters.cluster,
        sum({{ in_billionths('scores.score') }}) as billionths,
        count(*) as count_scores
    from scores
    inner join clusters on scores.system = clusters.system and scores.cluster_id = clusters.cluster_id
    where scores.is_traffic and scores.customer_group is not null
    group by scores.system, scores.metric_name, scores.customer_group, clusters.cluster
),

unpaired as (
    select
        cells.bias_gap_id, grouped.cluster,
        coalesce(
            sum(case when grouped.customer_group = cells.first_segment then grouped.billionths end), 0
        )::double / 1e9 as first_sum,
        coalesce(sum(case when grouped.customer_group = cells.first_segment then grouped.count_scores end), 0)
            as first_count,
        coalesce(
            sum(case when grouped.customer_group <> cells.first_segment then grouped.billionths end), 0
        )::double / 1e9 as second_sum,
        coalesce(sum(case when grouped.customer_group <> cells.first_segment then grouped.count_scores end), 0)
            as second_count
    from cells
    inner join grouped on cells.system = grouped.system and cells.metric_name = grouped.metric_name
    where cells.design = 'logged_groups'
    group by cells.bias_gap_id, grouped.cluster
),

summed as (
    select * from paired
    union all
    select * from unpaired
),

final as (
    select
        cells.bias_gap_id, cells.system, cells.design, cells.margin, cells.span, cells.is_indicator, summed.cluster,
        summed.first_sum::double as first_sum, summed.first_count::double as first_count,
        summed.second_sum::double as second_sum, summed.second_count::double as second_count
    from cells
    left join summed on cells.bias_gap_id = summed.bias_gap_id
)

select * from final
