{#- decimals to which people round a fitted threshold when they decide on it -#}
{%- set decision_decimals = 2 -%}
with fitted as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'thresholds'
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
    left join {{ ref('hcat', 'int_threshold_decisions') }} as decisions on fitted.metric_name = decisions.metric_name
),

judged as (
    select
        *,
        case
            when status <> 'ok' then 'no_threshold'
            when not is_shown then 'not_shown'
            -- the error that the kind limits; the other one is its price
            when kind = 'acceptance' and false_accept_verdict in ('within', 'beyond') then false_accept_verdict
            when kind = 'monitoring' and false_reject_verdict in ('within', 'beyond') then false_reject_verdict
            else 'not_shown'
        end as verdict
    from joined
)

select {{ columns_of_contract({
    'threshold_id': "md5(concat_ws('|', metric_name, method, risk_appetite))",
    'fitted_run_id': "'" ~ invocation_id ~ "'",
    'decided_threshold': 'decided_threshold::double',
    'is_decided': 'coalesce(is_decided, false)',
    'is_decision_expired': 'coalesce(valid_until < current_date, false)',
}) }}
from judged
