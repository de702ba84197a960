{# Converts text, with or without a zone, to a UTC timestamp without one; null if unreadable. Spark sessions use UTC. #}
{% macro zoned_timestamp(text) -%}
    {{ return(adapter.dispatch('zoned_timestamp', 'hcat')(text)) }}
{%- endmacro %}

{% macro default__zoned_timestamp(text) -%}
    try_cast(
        regexp_replace({{ text }}, '^(\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2})(Z|[+-].*)$', '\1:00\2')
        as timestamp with time zone
    ) at time zone 'UTC'
{%- endmacro %}

{% macro spark__zoned_timestamp(text) -%}
    {%- set whole = "regexp_replace(" ~ text ~ ", r'^([^T ]+[T ]\\d{2}:\\d{2})(Z|[+-].*)$', '$1:00$2')" -%}
    cast(try_cast({{ whole }} as timestamp_ltz) as timestamp_ntz)
{%- endmacro %}
