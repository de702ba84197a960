-- One row per metric that human labels calibrate, with its criterion, the scale of the labels, and the direction, unit
-- and range of its score.
{{ config(materialized='view') }}
with targets as (
    select * from {{ seed('calibration_targets') }}
),

metrics as (
    select * from {{ ref('hcat', 'int_metric_catalog') }}
),

scales as (
    select criterion, count(*)::integer as count_scale_points
    from {{ seed('rating_scales') }}
    group by criterion
),

final as (
    select
        targets.metric_name,
        targets.criterion,
        targets.accept_from::integer as accept_from,
        scales.count_scale_points,
        metrics.direction,
        metrics.unit,
        metrics.range_low,
        metrics.range_high
    from targets
    inner join metrics on targets.metric_name = metrics.metric_name
    inner join scales on targets.criterion = scales.criterion
)

select * from final
