{# ISO 8601 text to a UTC timestamp without zone; an offset in the text is honoured, none means UTC; null when unreadable. #}
{% macro utc_timestamp(column) %}
    try_cast({{ column }} as timestamp with time zone) at time zone 'UTC'
{%- endmacro %}
