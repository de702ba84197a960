with metrics as (
    select * from {{ ref('hcat', 'int_metric_catalog') }}
    where {{ is_metric_of_this_build('requires') }}
),

decisions as (
    select * from {{ ref('hcat', 'int_threshold_decisions') }}
),

final as (
    select
        metrics.metric_name,
        metrics.family,
        metrics.base_metric,
        metrics.aggregate,
        metrics.direction,
        metrics.unit,
        metrics.requires,
        metrics.source,
        metrics.description,
        decisions.decision_name,
        decisions.decided_by,
        decisions.rationale as decision_rationale,
        coalesce(decisions.decision_status, 'no_decision') as decision_status,
        decisions.version_class as decision_version_class,
        metrics.range_low::double as range_low,
        metrics.range_high::double as range_high,
        decisions.threshold::double as threshold,
        decisions.decided_threshold::double as decided_threshold,
        metrics.is_primary,
        decisions.is_provisional,
        coalesce(decisions.valid_until < current_date, false) as is_decision_expired,
        decisions.valid_until
    from metrics
    left join decisions on metrics.metric_name = decisions.metric_name
)

select * from final
