with ratings as (
    select * from {{ ref('hcat', 'int_ratings_labelled') }}
),

final as (
    select
        -- ids
        md5(
            concat_ws('|', interaction_id, rater, criterion, coalesce(guideline_version, ''), rating_pass)
        ) as rating_id,
        interaction_id,
        cluster_id,

        -- strings
        system,
        criterion,
        rater,
        rater_kind,
        guideline_version,
        review_round,
        sampling,
        scale_label,
        label_rater_kind,

        -- numerics
        scale_point::integer as scale_point,
        accept_from::integer as accept_from,
        rating_pass::integer as rating_pass,
        label as human_label,
        count_raters,
        mean_scale_point,
        reason_start::integer as reason_start,
        reason_end::integer as reason_end,
        inclusion_probability,

        -- booleans
        scale_point >= accept_from as is_accepting,

        -- timestamps
        rated_at
    from ratings
)

select * from final
