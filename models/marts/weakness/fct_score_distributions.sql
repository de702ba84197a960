with evaluations as (
    select *
    from {{ ref('int_primary_evaluations') }}
    where raw_score is not null
),

segments as (
    select *
    from {{ ref('int_interaction_segments') }}
    where dimension in ('all', 'system', 'topic', 'query_type')
),

scores as (
    select evaluations.metric_name, segments.dimension, segments.segment, evaluations.raw_score
    from evaluations
    inner join segments on evaluations.interaction_id = segments.interaction_id
),

summarised as (
    select
        metric_name,
        dimension,
        segment,
        count(*) as count_scored,
        quantile_cont(raw_score, [0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0]) as quantile_scores
    from scores
    group by metric_name, dimension, segment
),

unnested as (
    select
        metric_name,
        dimension,
        segment,
        count_scored,
        unnest([0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0]) as quantile,
        unnest(quantile_scores) as score
    from summarised
),

final as (
    select
        md5(concat_ws('|', metric_name, dimension, segment, quantile)) as score_distribution_id,
        metric_name,
        dimension,
        segment,
        count_scored::bigint as count_scored,
        quantile::double as quantile,
        score::double as score
    from unnested
)

select * from final
