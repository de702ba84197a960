with tested as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'audits'
),

final as (
    select
        -- ids
        md5(
            concat_ws(
                '|', metric_name, coalesce(rated_month, ''), test, coalesce(stratum, ''), coalesce(label::string, '')
            )
        ) as audit_test_id,

        -- strings
        metric_name,
        criterion,
        rated_month,
        test,
        stratum,
        status,

        -- numerics
        label as human_label,
        count_labels,
        count_clusters,
        value,
        expected,
        p_value,
        p_value_adjusted
    from tested
)

select * from final
