{# The elements for which the condition holds; it calls them `each`. #}
{% macro array_keep(list, condition) -%}
    {{ return(adapter.dispatch('array_keep', 'hcat')(list, condition)) }}
{%- endmacro %}

{% macro default__array_keep(list, condition) -%}
    list_filter({{ list }}, lambda each: {{ condition }})
{%- endmacro %}

{% macro spark__array_keep(list, condition) -%}
    filter({{ list }}, each -> {{ condition }})
{%- endmacro %}
