{#- decimals to which people round a fitted threshold when they decide on it -#}
{%- set decision_decimals = 2 -%}
-- The threshold in force, the three methods that somebody decides by (is_shown), and methods of the literature beside
-- them, to compare.
with fitted as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'thresholds'
),

decisions as (
    select * from {{ ref('hcat', 'int_threshold_decisions') }}
),

joined as (
    select
        fitted.*,
        decisions.decision_name,
        decisions.decided_by,
        decisions.is_provisional,
        decisions.valid_until,
        decisions.threshold as decided_threshold,
        -- A monitoring floor is no acceptance threshold, even when both have the same number.
        fitted.is_shown
        and fitted.kind = 'acceptance'
        and round(fitted.threshold, {{ decision_decimals }})
        = round(decisions.threshold, {{ decision_decimals }}) as is_decided
    from fitted
    left join decisions on fitted.metric_name = decisions.metric_name
),

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, method, risk_appetite)) as threshold_id,
        '{{ invocation_id }}' as fitted_run_id,
        metric_name,

        -- strings
        criterion,
        direction,
        kind,
        method,
        risk_appetite,
        status,
        message,
        accepts,
        false_accept_status,
        false_accept_verdict,
        false_reject_status,
        false_reject_verdict,
        case
            when status <> 'ok' then 'no_threshold'
            when not is_shown then 'not_shown'
            -- the error that the kind limits; the other one is its price
            when kind = 'acceptance' and false_accept_verdict in ('within', 'beyond') then false_accept_verdict
            when kind = 'monitoring' and false_reject_verdict in ('within', 'beyond') then false_reject_verdict
            else 'not_shown'
        end as verdict,
        decision_name,
        decided_by,

        -- numerics
        confidence,
        threshold,
        decided_threshold::double as decided_threshold,
        expected_cost,
        held_out_flag_share,
        count_fit_accepted,
        count_fit_failed,
        count_fit_clusters,
        interval_level,
        false_accept_tolerated_share,
        false_accept_rate,
        false_accept_rate_lower,
        false_accept_rate_upper,
        false_accept_count_labels,
        false_accept_count_clusters,
        false_accept_effective_n,
        false_accept_count_needed,
        false_reject_tolerated_share,
        false_reject_rate,
        false_reject_rate_lower,
        false_reject_rate_upper,
        false_reject_count_labels,
        false_reject_count_clusters,
        false_reject_effective_n,
        false_reject_count_needed,

        -- booleans
        is_shown,
        is_appetite_of_application,
        coalesce(is_decided, false) as is_decided,
        is_provisional,
        coalesce(valid_until < current_date, false) as is_decision_expired,

        -- timestamps
        valid_until
    from joined
)

select * from final
