{#- Columns of a row in marts of failure rates, from int_failure_rates_described. -#}
{% macro columns_of_a_failure_rate() -%}
-- ids
failure_rate_id,
metric_name,
system,
dimension,
segment,

-- strings
criterion,
target,
status,
predictor_status,
message,
statement,
labels_only_method,
prediction_powered_method,

-- numerics
count_interactions,
count_scored,
count_labels,
count_failures,
count_clusters,
effective_n,
failure_rate,
failure_rate_lower,
failure_rate_upper,
labels_only_rate,
labels_only_lower,
labels_only_upper,
labels_only_standard_error,
prediction_powered_rate,
prediction_powered_lower,
prediction_powered_upper,
prediction_powered_standard_error,
power_tuning,
width_ratio,

-- booleans
is_small
{%- endmacro %}
