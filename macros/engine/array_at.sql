{# Element of a list, counted from 1; null beyond its end. (The operator counts from 0 on Spark.) #}
{% macro array_at(list, position) -%}
    {{ return(adapter.dispatch('array_at', 'hcat')(list, position)) }}
{%- endmacro %}

{% macro default__array_at(list, position) -%}
    {{ list }}[{{ position }}]
{%- endmacro %}

{% macro spark__array_at(list, position) -%}
    try_element_at({{ list }}, cast({{ position }} as int))
{%- endmacro %}
