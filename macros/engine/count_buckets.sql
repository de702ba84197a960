{# A hook before a model: cuts its work into buckets of at most a part of the characters of a column, and begins with the first. #}
{% macro count_buckets(relation, text, bucket_characters) -%}
    {{ return(adapter.dispatch('count_buckets', 'hcat')(relation, text, bucket_characters)) }}
{%- endmacro %}

{% macro default__count_buckets(relation, text, bucket_characters) -%}
    set variable hcat_bucket = 0;
    set variable hcat_buckets = (
        select greatest(1, ceil(coalesce(sum(length({{ text }})), 0) / {{ bucket_characters }}))::integer from {{ relation }}
    )
{%- endmacro %}

{% macro spark__count_buckets(relation, text, bucket_characters) -%}
{%- endmacro %}
