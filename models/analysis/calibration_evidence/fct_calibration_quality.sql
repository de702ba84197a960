{%- set figures = [
    'brier_score', 'brier_score_base_rate', 'brier_score_difference', 'log_loss', 'log_loss_base_rate',
    'log_loss_difference', 'auroc', 'type_one_error', 'type_two_error', 'calibration_slope', 'calibration_intercept'
] %}
with measured as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'quality'
),

-- name, status, method, value, low, high
figures as (
    select
        metric_name,
        family,
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
        metric_name,
        family
    from figures
    group by metric_name, family
),

final as (
    select
        -- ids
        md5(concat_ws('|', measured.metric_name, measured.family)) as calibration_quality_id,

        -- strings
        measured.metric_name,
        measured.criterion,
        measured.family as calibrator,
        measured.status,
        measured.calibration_error_status,
        {%- for name in figures %}
        pivoted.{{ name }}_status,
        {%- endfor %}

        -- numerics
        measured.count_labels::integer as count_labels,
        measured.count_clusters::integer as count_clusters,
        measured.calibration_error,
        measured.calibration_error_by_chance,
        measured.calibration_error_limit,
        measured.calibration_error_debiased,
        {%- for name in figures %}
        pivoted.{{ name }},
        pivoted.{{ name }}_low,
        pivoted.{{ name }}_high,
        {%- endfor %}

        -- booleans
        measured.is_chosen,
        measured.calibration_error <= measured.calibration_error_limit as is_within_chance
    from measured
    left join pivoted on measured.metric_name = pivoted.metric_name and measured.family = pivoted.family
)

select * from final
