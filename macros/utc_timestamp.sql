{#
    ISO 8601 text to a UTC timestamp without zone; null when unreadable. An offset in the text is honoured; without one the
    time is UTC, whatever the session's time zone.
#}
{% macro utc_timestamp(column) %}
    case
        when regexp_matches({{ column }}, ':\d{2}.*(Z|z|[+-]\d{2}(:?\d{2})?)$')
            then try_cast({{ column }} as timestamp with time zone) at time zone 'UTC'
        else try_cast({{ column }} as timestamp)
    end
{%- endmacro %}
