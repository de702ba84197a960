with sides as (
    select * from {{ ref('hcat', 'int_counterfactual_sides') }}
),

-- few queries of a log have a side, and lists of all scores would not fit the memory
scores as (
    select
        system, metric_name, query_id,
        min(cluster_id) as cluster_id,
        {{ ordered_sum('score', 'interaction_id') }} / count(*) as mean_score
    from {{ ref('hcat', 'int_bias_scores') }}
    where query_id in (select sides.query_id from sides)
    group by system, metric_name, query_id
),

final as (
    select
        scores.system, scores.metric_name, sides.dimension, sides.parent_query_id, sides.pair_id,
        min(scores.cluster_id) as cluster_id,
        {{ ordered_sum('case when sides.is_first then scores.mean_score else 0 end', 'sides.query_id') }}
        / count(case when sides.is_first then 1 end) as first_score,
        {{ ordered_sum('case when sides.is_first then 0 else scores.mean_score end', 'sides.query_id') }}
        / count(case when not sides.is_first then 1 end) as second_score
    from sides
    inner join scores on sides.query_id = scores.query_id
    group by scores.system, scores.metric_name, sides.dimension, sides.parent_query_id, sides.pair_id
    -- one side alone is no pair
    having count(distinct sides.is_first) > 1
)

select * from final
