{# Leaves the judged metrics out, where this build has any. #}
{% macro and_metric_asks_no_language_model(metric_name) %}
    {%- if var('hcat_judge', false) -%}
        and {{ metric_name }} not in (
            select catalogued.metric_name
            from {{ ref('metric_catalog') }} as catalogued
            where catalogued.requires like '%language_model%'
        )
    {%- endif -%}
{%- endmacro %}
