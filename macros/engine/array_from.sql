{# The elements of a list from the first one that equals the value. #}
{% macro array_from(list, value) -%}
    {{ return(adapter.dispatch('array_from', 'hcat')(list, value)) }}
{%- endmacro %}

{% macro default__array_from(list, value) -%}
    {{ list }}[list_position({{ list }}, {{ value }}):]
{%- endmacro %}

{% macro spark__array_from(list, value) -%}
    slice({{ list }}, array_position({{ list }}, {{ value }}), array_size({{ list }}))
{%- endmacro %}
