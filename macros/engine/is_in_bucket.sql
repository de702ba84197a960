{# Whether a key belongs to the bucket that is written now (insert_other_buckets); true where nothing is cut. #}
{% macro is_in_bucket(key) -%}
    {{ return(adapter.dispatch('is_in_bucket', 'hcat')(key)) }}
{%- endmacro %}

{# The variables belong to the connection. A query outside a build has none of them and reads all rows. A hash has 64
   bits without sign: a number of another type would make the engine divide 128 bits, which takes eighty times as long. #}
{% macro duckdb__is_in_bucket(key) -%}
    hash({{ key }}) % coalesce(getvariable('hcat_buckets'), 1)::ubigint
    = coalesce(getvariable('hcat_bucket'), 0)::ubigint
{%- endmacro %}

{# Spark cuts its work into partitions by itself. #}
{% macro default__is_in_bucket(key) -%}
    true
{%- endmacro %}
