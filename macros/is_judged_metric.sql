{# Whether a metric asks a language model, by its name. A test checks that the catalogue follows this rule. #}
{% macro is_judged_metric(metric_name) %}
    contains(coalesce({{ metric_name }}, ''), '_llm')
{%- endmacro %}
