-- Rows count by sampling weight. Deletion 0 is what is there, and `hcat prune` keeps its rows of the weeks that it
-- deletes. Dimensions are all but the week itself. Only complete weeks are compared.
{{ config(materialized='table') }}
{%- set columns = [
    'count_interactions', 'count_scored', 'count_clusters', 'sum_squared_counts', 'sum_scores', 'sum_squared_sums',
    'sum_products', 'count_decided', 'sum_squared_decided', 'count_failing'
] %}

with evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
    where is_in_monitored_population
),

week_dimensions as (
    select dimension from {{ ref('hcat', 'int_analysis_dimensions') }}
    where source = 'column' and field = 'asked_week'
),

segments as (
    select segments.*
    from {{ ref('hcat', 'int_interaction_segments') }} as segments
    left join week_dimensions on segments.dimension = week_dimensions.dimension
    where week_dimensions.dimension is null
),

interactions as (
    select interaction_id, cluster_id, date_trunc('week', asked_at)::date as week_start, asked_at::date as asked_on
    from {{ ref('hcat', 'fct_interactions') }}
    where is_in_monitored_population
),

-- whole billionths, because a sum of doubles depends on the order in which an engine adds
summed_by_cluster as (
    select
        evaluations.metric_name, segments.dimension, segments.segment, interactions.week_start,
        interactions.cluster_id,
        count(*) as count_interactions, count(evaluations.raw_score) as count_scored,
        coalesce(sum({{ in_billionths('evaluations.raw_score * evaluations.whole_weight') }}), 0) as sum_billionths,
        count(evaluations.is_failing) as count_decided, max(evaluations.weight_unit) as unit,
        coalesce(sum(evaluations.is_failing::integer), 0) as count_failing,
        {%- for name, test in {'scored': 'raw_score is not null', 'decided': 'is_failing is not null'}.items() %}
        sum(case when evaluations.{{ test }} then {{ whole_number('evaluations.whole_weight') }} else 0 end)
            as weight_{{ name }},
        {%- endfor %}
        sum(case when evaluations.is_failing then evaluations.whole_weight else 0 end) as weight_failing
    from evaluations
    inner join segments on evaluations.interaction_id = segments.interaction_id
    inner join interactions on evaluations.interaction_id = interactions.interaction_id
    group by
        evaluations.metric_name, segments.dimension, segments.segment, interactions.week_start, interactions.cluster_id
),

summed as (
    select
        metric_name, dimension, segment, week_start,
        sum(count_interactions)::bigint as count_interactions, sum(count_scored)::bigint as count_scored,
        sum(case when count_scored > 0 then 1 else 0 end)::bigint as count_clusters,
        sum(weight_scored * weight_scored)::double * max(unit) * max(unit) as sum_squared_counts,
        sum(sum_billionths)::double * max(unit) as sum_scores,
        sum(sum_billionths * sum_billionths)::double * max(unit) * max(unit) as sum_squared_sums,
        sum(weight_scored * sum_billionths)::double * max(unit) * max(unit) as sum_products,
        sum(count_decided)::bigint as count_decided,
        sum(weight_decided * weight_decided)::double * max(unit) * max(unit) as sum_squared_decided,
        sum(count_failing)::bigint as count_failing,
        sum(weight_scored)::double * max(unit) as weight_scored,
        sum(weight_decided)::double * max(unit) as weight_decided,
        sum(weight_failing)::double * max(unit) as weight_failing
    from summed_by_cluster
    group by metric_name, dimension, segment, week_start
),

latest as (
    select date_trunc('week', max(asked_on))::date as latest_week, max(asked_on) as latest_day
    from interactions
),

united as (
    select
        summed.*,
        0 as deletion_number,
        case
            when summed.week_start is null then 'no_timestamp'
            when summed.week_start < latest.latest_week then 'complete'
            -- a week is over if the logs reach its closing day
            when {{ days_between('summed.week_start', 'latest.latest_day') }} >= {{ var('hcat_drift_closing_day') }} - 1
                then 'complete'
            else 'incomplete'
        end as week_status
    from summed
    cross join latest
    union all
    select
        metric_name, dimension, segment, week_start, {{ columns | join(', ') }},
        {%- for name in ['scored', 'decided', 'failing'] %}
        -- what was pruned before weights were kept had none
        coalesce(weight_{{ name }}, count_{{ name }}::double) as weight_{{ name }},
        {%- endfor %}
        deletion_number, week_status
    from {{ ref('hcat', 'int_weeks_pruned') }}
),

final as (
    select
        united.*,
        metrics.range_low::double as range_low,
        metrics.range_high::double as range_high
    from united
    left join {{ ref('hcat', 'int_metric_catalog') }} as metrics on united.metric_name = metrics.metric_name
)

select * from final
