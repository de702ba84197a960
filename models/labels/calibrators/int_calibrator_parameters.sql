-- One row per (metric, segment, family, parameter, position) of the fitted calibrators, to read and to apply them.
{{ config(materialized='view') }}
with calibrators as (
    select * from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'calibrators' and status = 'fitted'
),

final as (
    select
        metric_name,
        criterion,
        segment,
        family,
        is_chosen,
        count_labels,
        count_clusters,
        -- parameter, position, value, lower_bound, probability, tree, node, feature, threshold, left, right,
        -- missing_goes_left: hcat.calibration.calibrators.CalibratorRow
        {{ explode_records('parameters') }}  -- noqa: AL03
    from calibrators
)

select * from final
