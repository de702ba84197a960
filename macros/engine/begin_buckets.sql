{# A hook before a model that is written in so many buckets (insert_other_buckets): begins with the first. #}
{% macro begin_buckets(count) -%}
    {{ return(adapter.dispatch('begin_buckets', 'hcat')(count)) }}
{%- endmacro %}

{% macro duckdb__begin_buckets(count) -%}
    set variable hcat_bucket = 0;
    set variable hcat_buckets = {{ count }}
{%- endmacro %}

{% macro default__begin_buckets(count) -%}
{%- endmacro %}
