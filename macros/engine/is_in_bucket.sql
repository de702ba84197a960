{# Whether a key belongs to the bucket that is written now (insert_other_buckets); true where nothing is cut. #}
{% macro is_in_bucket(key) -%}
    {{ return(adapter.dispatch('is_in_bucket', 'hcat')(key)) }}
{%- endmacro %}

{# The variables belong to the connection. A query outside a build has none of them and reads all rows. #}
{% macro duckdb__is_in_bucket(key) -%}
    hash({{ key }}) % coalesce(getvariable('hcat_buckets'), 1) = coalesce(getvariable('hcat_bucket'), 0)
{%- endmacro %}

{# Spark cuts its work into partitions by itself. #}
{% macro default__is_in_bucket(key) -%}
    true
{%- endmacro %}
