-- Methods of the literature beside the three of fct_metric_thresholds, to compare them. Nobody decides by this table.
with fitted as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'thresholds' and not is_shown
),

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, method, risk_appetite)) as threshold_method_id,
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

        -- numerics
        confidence,
        threshold,
        held_out_flag_share,
        false_accept_rate,
        false_accept_rate_lower,
        false_accept_rate_upper,
        false_reject_rate,
        false_reject_rate_lower,
        false_reject_rate_upper,
        expected_cost
    from fitted
)

select * from final
