with labels_needed as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'labels_needed'
),

counted as (
    select
        *,
        case
            when count_labels_needed is not null then greatest(0, count_labels_needed - count_labels)
        end as count_labels_missing
    from labels_needed
),

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, purpose, target::string, confidence::string)) as labels_needed_id,

        -- strings
        metric_name,
        purpose,
        case
            when count_labels = 0 or (purpose = 'decided_share' and auroc is null) then 'no_labels'
            when count_labels_needed is null then 'out_of_reach'
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
        count_labels_missing::integer as count_labels_missing,
        auroc,
        share_decidable,
        share_decided_expected
    from counted
)

select * from final
