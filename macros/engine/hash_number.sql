{# A 64-bit hash of a column. It is constant within a build and never shown, because engines differ. #}
{% macro hash_number(column) -%}
    {{ return(adapter.dispatch('hash_number', 'hcat')(column)) }}
{%- endmacro %}

{% macro default__hash_number(column) -%}
    hash({{ column }})
{%- endmacro %}

{% macro spark__hash_number(column) -%}
    xxhash64({{ column }})
{%- endmacro %}
