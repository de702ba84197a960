{#
    Converts ISO 8601 text to a UTC timestamp without zone. It applies an offset in the text; no offset means UTC. The
    result is null when the text is unreadable. The engine alone would also read 'infinity' and 'epoch', and would not
    read an hour and minute followed by a zone.
#}
{% macro utc_timestamp(column) %}
    case
        when {{ matches_pattern(column, '^\\d{4}-\\d{2}-\\d{2}([T ]|$)') }}
            then {{ zoned_timestamp(column) }}
    end
{%- endmacro %}
