{# Whether this build computes a catalogued metric. Metrics that need a language model also need hcat_judge. #}
{% macro is_metric_of_this_build(requires) %}
    {%- if var('hcat_judge') -%}
        true
    {%- else -%}
        coalesce({{ requires }}, '') not like '%language_model%'
    {%- endif -%}
{%- endmacro %}
