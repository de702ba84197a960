with measured as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'quality'
),

-- position, lowest, highest, mean_prediction, share_accepted, low, high, count_labels, count_clusters
bins as (
    select
        metric_name,
        family,
        is_chosen,
        {{ explode_records('bins') }}  -- noqa: AL03
    from measured
),

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, family, position)) as calibration_bin_id,

        -- strings
        metric_name,
        family as calibrator,

        -- numerics
        position as bin,
        lowest as lowest_prediction,
        highest as highest_prediction,
        mean_prediction,
        share_accepted,
        low as share_accepted_low,
        high as share_accepted_high,
        count_labels::integer as count_labels,
        count_clusters::integer as count_clusters,

        -- booleans
        is_chosen
    from bins
)

select * from final
