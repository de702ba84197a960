{# A hook that stops the build with the message when the condition holds for a row of the query `source`. #}
{% macro raise_when(condition, message, source) -%}
    {{ return(adapter.dispatch('raise_when', 'hcat')(condition, message, source)) }}
{%- endmacro %}

{% macro default__raise_when(condition, message, source) -%}
    select case when {{ condition }} then error({{ message }}) end as problem from {{ source }}
{%- endmacro %}

{# Spark does not run a query whose rows are not fetched. #}
{% macro spark__raise_when(condition, message, source) -%}
    {% if execute %}
        {% for row in run_query('select ' ~ message ~ ' from ' ~ source ~ ' where ' ~ condition).rows %}
            {% do exceptions.raise_compiler_error(row[0]) %}
        {% endfor %}
    {% endif %}
{%- endmacro %}
