with validity as (
    select * from {{ ref('hcat', 'int_calibration_validity') }}
),

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, version_class)) as calibration_validity_id,

        -- strings
        metric_name,
        criterion,
        version_class,
        calibration_status,

        -- numerics
        count_interactions::bigint as count_interactions,
        count_labels::bigint as count_labels,
        count_clusters::bigint as count_clusters,

        -- timestamps
        last_rated_at,
        valid_until
    from validity
)

select * from final
