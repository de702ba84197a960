{# Smallest element of a list. #}
{% macro array_minimum(list) -%}
    {{ return(adapter.dispatch('array_minimum', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__array_minimum(list) -%}
    list_min({{ list }})
{%- endmacro %}

{% macro spark__array_minimum(list) -%}
    array_min({{ list }})
{%- endmacro %}
