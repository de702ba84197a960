with weeks as (
    select * from {{ ref('hcat', 'int_drift_measured') }}
    where part = 'weeks'
),

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, dimension, segment, coalesce(week_start::string, week_status)))
            as metric_week_id,
        metric_name, dimension, segment,

        -- strings
        week_status,

        -- numerics
        count_interactions::bigint as count_interactions,
        count_scored::bigint as count_scored,
        count_clusters::bigint as count_clusters,
        scored_effective, mean_score, standard_error, mean_lower, mean_upper,
        -- no decision, no verdict
        case when count_decided > 0 then count_failing end::bigint as count_failing,
        share_failing,
        {{ wilson_bound('share_failing', 'decided_effective', 'lower') }} as share_failing_lower,
        {{ wilson_bound('share_failing', 'decided_effective', 'upper') }} as share_failing_upper,

        -- booleans
        is_pruned,

        -- timestamps
        week_start
    from weeks
)

select * from final
