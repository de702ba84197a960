-- One row per interaction: its stratum of the prediction sets, and the segment whose calibrator may be its own.
with segments as (
    select * from {{ ref('int_interaction_segments') }}
),

interactions as (
    select interaction_id from {{ ref('int_interactions_joined') }}
),

final as (
    select
        interactions.interaction_id,
        -- a stratum without a quantile of its own falls to the same cell
        coalesce(
            min(segments.segment) filter (where segments.dimension = '{{ var("hcat_conformal_dimension") }}'), 'other'
        ) as stratum,
        coalesce(
            min(segments.segment) filter (where segments.dimension = '{{ var("hcat_calibration_dimension") }}'), 'all'
        ) as segment
    from interactions
    left join segments on interactions.interaction_id = segments.interaction_id
    group by interactions.interaction_id
)

select * from final
