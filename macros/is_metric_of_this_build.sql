{# Whether a catalogued metric is computed by this build: those that need a language model only with hcat_judge. #}
{% macro is_metric_of_this_build(requires) %}
    {%- if var('hcat_judge', false) -%}
        true
    {%- else -%}
        coalesce({{ requires }}, '') not like '%language_model%'
    {%- endif -%}
{%- endmacro %}
