with bands as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'bands'
),

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, band)) as score_band_id,
        metric_name,

        -- strings
        criterion,
        direction,

        -- numerics
        band::integer as band,
        lower_bound,
        upper_bound,
        count_labels::integer as count_labels,
        count_failed::integer as count_failed,
        count_clusters::integer as count_clusters,
        failure_rate,
        failure_rate_low,
        failure_rate_high,
        largest_cluster_share
    from bands
)

select * from final
