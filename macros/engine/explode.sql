{# A row per element of a list; a column of a select that has no other such. #}
{% macro explode(list) -%}
    {{ return(adapter.dispatch('explode', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__explode(list) -%}
    unnest({{ list }})
{%- endmacro %}

{% macro spark__explode(list) -%}
    explode({{ list }})
{%- endmacro %}
