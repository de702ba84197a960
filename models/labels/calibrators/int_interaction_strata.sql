-- One row per interaction with its stratum for the prediction sets and its segment, which may have its own calibrator.
with segments as (
    select * from {{ ref('hcat', 'int_interaction_segments') }}
),

interactions as (
    select interaction_id from {{ ref('hcat', 'int_interactions_joined') }}
),

final as (
    select
        interactions.interaction_id,
        -- An interaction without a segment goes to the cell that strata without a quantile of their own share.
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
