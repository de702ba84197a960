{# The key of one score: one interaction and one metric. #}
{% macro evaluation_id(interaction_id, metric_name) %}
    md5({{ interaction_id }} || '|' || {{ metric_name }})
{%- endmacro %}
