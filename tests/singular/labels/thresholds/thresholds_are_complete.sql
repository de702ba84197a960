{{ config(enabled=is_on('calibration')) }}
-- Every metric that people calibrate has one row per method and risk appetite, whatever its labels are: three methods
-- in the mart to decide by, the others in the appendix.
with methods as (
    select {{ explode(array_of([
        "'roc_youden'", "'roc_cost'", "'logistic'", "'polynomial_logistic'", "'gam'", "'kde_crossing'", "'conformal'",
        "'normal_floor'", "'normal_floor_fold_mean'", "'normal_floor_fold_strictest'", "'pass_quantile'"
    ])) }} as method
),

thresholds as (
    select metric_name, method, risk_appetite from {{ ref('hcat', 'fct_metric_thresholds') }}
    union all
    select metric_name, method, risk_appetite from {{ ref('hcat', 'fct_threshold_methods') }}
)

select targets.metric_name, methods.method, appetites.risk_appetite, count(thresholds.metric_name) as count_rows
from {{ seed('calibration_targets') }} as targets
cross join methods
cross join {{ seed('risk_appetites') }} as appetites
left join thresholds
    on
        targets.metric_name = thresholds.metric_name
        and methods.method = thresholds.method
        and appetites.risk_appetite = thresholds.risk_appetite
group by targets.metric_name, methods.method, appetites.risk_appetite
having count(thresholds.metric_name) <> 1
