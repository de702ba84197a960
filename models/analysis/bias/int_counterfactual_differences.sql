-- One row per (system, metric, pair of queries that differ in a demographic term), with the mean score of each side.
{{ config(materialized='view') }}
with sides as (
    select * from {{ ref('hcat', 'int_counterfactual_sides') }}
),

scores as (
    select
        system,
        metric_name,
        query_id,
        min(cluster_id) as cluster_id,
        avg(score) as mean_score
    from {{ ref('hcat', 'int_bias_scores') }}
    where query_id is not null
    group by system, metric_name, query_id
),

final as (
    select
        scores.system,
        scores.metric_name,
        sides.dimension,
        sides.parent_query_id,
        sides.pair_id,
        min(scores.cluster_id) as cluster_id,
        avg(case when sides.is_first then scores.mean_score end) as first_score,
        avg(case when not sides.is_first then scores.mean_score end) as second_score
    from sides
    inner join scores on sides.query_id = scores.query_id
    group by scores.system, scores.metric_name, sides.dimension, sides.parent_query_id, sides.pair_id
    -- one side alone is no pair
    having count(distinct sides.is_first) > 1
)

select * from final
