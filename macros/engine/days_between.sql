{# Whole days from the first date to the last. #}
{% macro days_between(first_day, last_day) -%}
    {{ return(adapter.dispatch('days_between', 'hcat')(first_day, last_day)) }}
{%- endmacro %}

{% macro default__days_between(first_day, last_day) -%}
    {{ last_day }} - {{ first_day }}
{%- endmacro %}

{% macro spark__days_between(first_day, last_day) -%}
    datediff({{ last_day }}, {{ first_day }})
{%- endmacro %}
