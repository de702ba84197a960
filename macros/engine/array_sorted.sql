{# A list in rising order; of records by their first field, then the second and so on. #}
{% macro array_sorted(list) -%}
    {{ return(adapter.dispatch('array_sorted', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__array_sorted(list) -%}
    list_sort({{ list }})
{%- endmacro %}

{% macro spark__array_sorted(list) -%}
    array_sort({{ list }})
{%- endmacro %}
