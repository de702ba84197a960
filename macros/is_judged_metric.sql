{# Whether a metric asks a language model, by its name: a test holds the catalogue to it. #}
{% macro is_judged_metric(metric_name) %}
    contains(coalesce({{ metric_name }}, ''), '_llm')
{%- endmacro %}
