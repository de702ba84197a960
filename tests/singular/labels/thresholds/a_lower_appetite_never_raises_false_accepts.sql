{{ config(enabled=is_on('calibration')) }}
-- Acceptance thresholds of one metric and method. If more confidence is demanded, they never accept more failed
-- answers.
select
    laxer.metric_name,
    laxer.method,
    laxer.risk_appetite,
    stricter.risk_appetite as lower_appetite,
    laxer.false_accept_rate,
    stricter.false_accept_rate as rate_at_lower_appetite
from {{ ref('hcat', 'fct_metric_thresholds') }} as laxer
inner join {{ ref('hcat', 'fct_metric_thresholds') }} as stricter
    on
        laxer.metric_name = stricter.metric_name
        and laxer.method = stricter.method
        and laxer.confidence < stricter.confidence
where
    laxer.kind = 'acceptance'
    and stricter.threshold is not null
    and (
        stricter.false_accept_rate > laxer.false_accept_rate
        or (laxer.direction = 'higher_is_better' and stricter.threshold < laxer.threshold)
        or (laxer.direction = 'lower_is_better' and stricter.threshold > laxer.threshold)
    )
