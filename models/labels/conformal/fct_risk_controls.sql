with risks as (
    select * from {{ ref('hcat', 'int_risks_controlled') }}
),

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, promise, level)) as risk_control_id,

        -- strings
        metric_name,
        criterion,
        promise,
        status,

        -- numerics
        level,
        confidence,
        threshold,
        share_accepted,
        count_clusters::integer as count_clusters,
        test_risk,
        test_share_accepted,
        count_test_labels::integer as count_test_labels,
        count_test_clusters::integer as count_test_clusters
    from risks
)

select * from final
