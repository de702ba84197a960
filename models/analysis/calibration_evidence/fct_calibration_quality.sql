{%- set figures = [
    'brier_score', 'log_loss', 'log_loss_difference', 'auroc', 'type_one_error', 'type_two_error', 'calibration_slope',
    'calibration_intercept'
] %}
with measured as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'quality'
),

-- name, status, method, value, low, high
figures as (
    select
        metric_name, family,
        {{ explode_records('figures') }}  -- noqa: AL03
    from measured
),

pivoted as (
    select
        {%- for name in figures %}
        max(status) filter (where name = '{{ name }}') as {{ name }}_status,
        max(value) filter (where name = '{{ name }}') as {{ name }},
        max(low) filter (where name = '{{ name }}') as {{ name }}_low,
        max(high) filter (where name = '{{ name }}') as {{ name }}_high,
        {%- endfor %}
        metric_name as pivoted_metric,
        family as pivoted_family
    from figures
    group by metric_name, family
),

joined as (
    select
        -- other parts have an auroc of their own
        measured.{{ columns_except(['auroc']) }},
        pivoted.*,
        measured.calibration_error <= measured.calibration_error_limit as is_within_chance
    from measured
    left join pivoted on measured.metric_name = pivoted.pivoted_metric and measured.family = pivoted.pivoted_family
)

select {{ columns_of_contract({
    'calibration_quality_id': "md5(concat_ws('|', metric_name, family))",
    'calibrator': 'family',
    'count_labels': 'count_labels::integer',
    'count_clusters': 'count_clusters::integer',
}) }}
from joined
