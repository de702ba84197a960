{# One row per element of a list, as a column of a select. The select may have only one such column. #}
{% macro explode(list) -%}
    {{ return(adapter.dispatch('explode', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__explode(list) -%}
    unnest({{ list }})
{%- endmacro %}

{% macro spark__explode(list) -%}
    explode({{ list }})
{%- endmacro %}
