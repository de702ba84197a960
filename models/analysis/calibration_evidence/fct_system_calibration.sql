with measured as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'quality' and is_chosen
),

-- system, status, method, count_labels, count_clusters, share_accepted, mean_prediction, difference, low, high
systems as (
    select
        metric_name,
        criterion,
        family,
        {{ explode_records('systems') }}  -- noqa: AL03
    from measured
),

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, system)) as system_calibration_id,

        -- strings
        metric_name,
        criterion,
        family as calibrator,
        system,
        status,

        -- numerics
        count_labels::integer as count_labels,
        count_clusters::integer as count_clusters,
        share_accepted,
        mean_prediction,
        difference,
        low as difference_low,
        high as difference_high
    from systems
)

select * from final
