{#
    Converts a logged time to a UTC timestamp without zone: ISO 8601, or the format that hcat_timestamp_format declares.
    Null when the text is neither: 01/02/2026 has two readings, and no rule may choose.
#}
{% macro logged_timestamp(column) %}
    {%- if var('hcat_timestamp_format') -%}
        coalesce({{ utc_timestamp(column) }}, {{ declared_timestamp(column, var('hcat_timestamp_format')) }})
    {%- else -%}
        {{ utc_timestamp(column) }}
    {%- endif -%}
{%- endmacro %}
