{# Number of elements of a list; null for no list. #}
{% macro array_length(list) -%}
    {{ return(adapter.dispatch('array_length', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__array_length(list) -%}
    len({{ list }})
{%- endmacro %}

{% macro spark__array_length(list) -%}
    array_size({{ list }})
{%- endmacro %}
