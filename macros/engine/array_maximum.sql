{# Largest element of a list, nulls left out. #}
{% macro array_maximum(list) -%}
    {{ return(adapter.dispatch('array_maximum', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__array_maximum(list) -%}
    list_max({{ list }})
{%- endmacro %}

{% macro spark__array_maximum(list) -%}
    array_max({{ list }})
{%- endmacro %}
