{# Applies an expression to every element of a list; the expression calls the element `each`. #}
{% macro array_map(list, expression) -%}
    {{ return(adapter.dispatch('array_map', 'hcat')(list, expression)) }}
{%- endmacro %}

{% macro default__array_map(list, expression) -%}
    list_transform({{ list }}, lambda each: {{ expression }})
{%- endmacro %}

{% macro spark__array_map(list, expression) -%}
    transform({{ list }}, each -> {{ expression }})
{%- endmacro %}
