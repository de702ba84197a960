{# A row per record of a list, its fields as columns of the select. #}
{% macro explode_records(list) -%}
    {{ return(adapter.dispatch('explode_records', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__explode_records(list) -%}
    unnest({{ list }}, recursive := true)
{%- endmacro %}

{% macro spark__explode_records(list) -%}
    inline({{ list }})
{%- endmacro %}
