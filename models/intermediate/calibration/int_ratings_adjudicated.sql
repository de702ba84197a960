-- One row per (interaction, criterion): the label of the majority of raters; a tie has no label.
-- A rater's repeated pass is no second opinion: only the first pass counts.
with ratings as (
    select * from {{ ref('stg_ratings') }}
),

targets as (
    select criterion, max(accept_from) as accept_from
    from {{ ref('calibration_targets') }}
    group by criterion
),

first_passes as (
    select
        *,
        row_number() over (
            partition by interaction_id, rater, criterion
            order by rating_pass asc, rated_at desc nulls last, guideline_version desc, record_id asc
        ) as look
    from ratings
),

votes as (
    select
        first_passes.interaction_id,
        first_passes.criterion,
        count(*) as count_raters,
        avg(first_passes.scale_point) as mean_scale_point,
        avg(case when first_passes.scale_point >= targets.accept_from then 1.0 else 0.0 end) as share_accepting
    from first_passes
    inner join targets on first_passes.criterion = targets.criterion
    where first_passes.look = 1
    group by first_passes.interaction_id, first_passes.criterion
),

final as (
    select
        *,
        case when share_accepting > 0.5 then 1 when share_accepting < 0.5 then 0 end as label
    from votes
)

select * from final
