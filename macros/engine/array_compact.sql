{# A list without its nulls. #}
{% macro array_compact(list) -%}
    {{ return(adapter.dispatch('array_compact', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__array_compact(list) -%}
    list_filter({{ list }}, lambda each: each is not null)
{%- endmacro %}

{% macro spark__array_compact(list) -%}
    array_compact({{ list }})
{%- endmacro %}
