{# Whole part of a quotient of integers. #}
{% macro integer_division(dividend, divisor) -%}
    {{ return(adapter.dispatch('integer_division', 'hcat')(dividend, divisor)) }}
{%- endmacro %}

{% macro default__integer_division(dividend, divisor) -%}
    {{ dividend }} // {{ divisor }}
{%- endmacro %}

{% macro spark__integer_division(dividend, divisor) -%}
    {{ dividend }} div {{ divisor }}
{%- endmacro %}
