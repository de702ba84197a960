{# A 64-bit hash of several columns, nulls included. It is constant within a build and never stored, because engines and
   their versions differ. #}
{% macro hash_row(columns) -%}
    {{ return(adapter.dispatch('hash_row', 'hcat')(columns)) }}
{%- endmacro %}

{% macro default__hash_row(columns) -%}
    hash({{ columns | join(', ') }})
{%- endmacro %}

{# xxhash64 passes over nulls, wherever they stand; JSON names the columns that are there. #}
{% macro spark__hash_row(columns) -%}
    xxhash64(to_json(struct({{ columns | join(', ') }})))
{%- endmacro %}
