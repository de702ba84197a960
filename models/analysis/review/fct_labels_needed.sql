with labels_needed as (
    select * from {{ ref('int_labels_needed') }}
),

counted as (
    select
        *,
        greatest(0, count_labels_needed - count_labels) as count_labels_missing
    from labels_needed
),

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, purpose, target::string)) as labels_needed_id,

        -- strings
        metric_name,
        purpose,
        case
            when count_labels = 0 then 'no_labels'
            when count_labels_missing > 0 then 'labels_missing'
            else 'reached'
        end as label_status,

        -- numerics
        target,
        confidence,
        power,
        failure_rate,
        failure_rate_low,
        failure_rate_high,
        planning_rate,
        design_effect,
        count_groups::integer as count_groups,
        count_labels::integer as count_labels,
        count_clusters::integer as count_clusters,
        count_labels_needed::integer as count_labels_needed,
        count_labels_missing::integer as count_labels_missing
    from counted
)

select * from final
