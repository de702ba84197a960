{# Whether a part of a model is the bucket that is written now (insert_other_buckets); true where nothing is cut. #}
{% macro is_bucket(number) -%}
    {{ return(adapter.dispatch('is_bucket', 'hcat')(number)) }}
{%- endmacro %}

{% macro duckdb__is_bucket(number) -%}
    coalesce(getvariable('hcat_bucket'), {{ number }}) = {{ number }}
{%- endmacro %}

{% macro default__is_bucket(number) -%}
    true
{%- endmacro %}
