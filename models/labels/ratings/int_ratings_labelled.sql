-- One row per accepted rating, with its cluster and with the label that the ratings of its interaction lead to. Also
-- a rating that gives no label is kept: a second pass, or one of a kind that another outranks.
{{ config(materialized='view') }}
with ratings as (
    select * from {{ ref('hcat', 'stg_ratings') }}
),

interactions as (
    select interaction_id, cluster_id, system from {{ ref('hcat', 'int_interactions_joined') }}
),

labels as (
    select * from {{ ref('hcat', 'int_ratings_adjudicated') }}
),

scale_points as (
    select criterion, scale_point, min(scale_label) as scale_label from {{ seed('rating_scales') }}
    group by criterion, scale_point
),

final as (
    select
        ratings.interaction_id,
        interactions.cluster_id,
        interactions.system,
        ratings.criterion,
        ratings.rater,
        ratings.rater_kind,
        ratings.guideline_version,
        ratings.review_round,
        ratings.sampling,
        scale_points.scale_label,
        labels.rater_kind as label_rater_kind,
        ratings.scale_point,
        labels.accept_from,
        ratings.rating_pass,
        labels.label,
        labels.count_raters,
        labels.mean_scale_point,
        ratings.reason_start,
        ratings.reason_end,
        ratings.inclusion_probability,
        ratings.rated_at
    from ratings
    inner join interactions on ratings.interaction_id = interactions.interaction_id
    left join labels on ratings.interaction_id = labels.interaction_id and ratings.criterion = labels.criterion
    left join scale_points
        on ratings.criterion = scale_points.criterion and ratings.scale_point = scale_points.scale_point
)

select * from final
