-- Also a rating that gives no label is kept: a second pass, or one of a kind that another outranks.
with ratings as (
    select * from {{ ref('hcat', 'stg_ratings') }}
),

interactions as (
    select interaction_id, cluster_id, system from {{ ref('hcat', 'int_interactions') }}
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
        -- ids
        md5(
            concat_ws(
                '|', ratings.interaction_id, ratings.rater, ratings.criterion, coalesce(ratings.guideline_version, ''),
                ratings.rating_pass
            )
        ) as rating_id,
        ratings.interaction_id,
        interactions.cluster_id,

        -- strings
        interactions.system,
        ratings.criterion,
        ratings.rater,
        ratings.rater_kind,
        ratings.guideline_version,
        ratings.review_round,
        ratings.sampling,
        scale_points.scale_label,
        labels.rater_kind as label_rater_kind,

        -- numerics
        ratings.scale_point::integer as scale_point,
        labels.accept_from::integer as accept_from,
        ratings.rating_pass::integer as rating_pass,
        labels.label as human_label,
        labels.count_raters,
        labels.mean_scale_point,
        ratings.reason_start::integer as reason_start,
        ratings.reason_end::integer as reason_end,
        ratings.inclusion_probability,

        -- booleans
        ratings.scale_point >= labels.accept_from as is_accepting,

        -- timestamps
        ratings.rated_at
    from ratings
    inner join interactions on ratings.interaction_id = interactions.interaction_id
    left join labels on ratings.interaction_id = labels.interaction_id and ratings.criterion = labels.criterion
    left join scale_points
        on ratings.criterion = scale_points.criterion and ratings.scale_point = scale_points.scale_point
)

select * from final
