{#
    Converts ISO 8601 or RFC 3339 text to a UTC timestamp without zone; null when the text is neither. Text without an
    offset is written anew with one, because DuckDB keeps the zone that one text names for the texts after it. No offset
    means UTC, and so do Z, UTC and GMT. Another name of a zone is unreadable, unless an offset stands before it, as in
    2026-05-04T09:12:00-04:00[America/New_York]. A date of eight digits alone may as well be a number.
#}
{% macro utc_timestamp(column) %}
    {%- set offset = '[-+](?:0[0-9]|1[0-8])' -%}
    {#- usual spellings stay as they are, which takes a tenth of the time -#}
    {%- set usual = '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?' -%}
    {%- set clock = '[Tt ] *([0-9]{1,2})(?::?([0-9]{2})(?::?([0-9]{2})(?:[.,]([0-9]*))?)?)?' -%}
    {%- set zone = '(?: ?([Zz]|UTC|GMT|' ~ offset ~ '(?::?[0-9]{2})?))?' -%}
    {%- set pattern = '^([0-9]{4})-?([0-9]{2})-?([0-9]{2})(?:' ~ clock ~ zone ~ ')?$' -%}
    {%- set parts = [] -%}
    {%- for group in range(1, 9) -%}
        {%- do parts.append("regexp_extract(split_part(" ~ column ~ ", '[', 1), '" ~ pattern ~ "', " ~ group ~ ")") -%}
    {%- endfor -%}
    {%- set year, month, day, hour, minute, second, fraction, zone = parts -%}
    {%- set written -%}
        case
            when {{ matches_pattern(column, usual ~ '(Z|' ~ offset ~ ':[0-9]{2})$') }} then {{ column }}
            when {{ matches_pattern(column, usual ~ '$') }} then {{ column }} || '+00:00'
            when length({{ column }}) > 8 and (not contains({{ column }}, '[') or {{ zone }} <> '')
                then {{ year }} || '-' || {{ month }} || '-' || {{ day }}
                || ' ' || lpad({{ hour }}, 2, '0') || ':' || lpad({{ minute }}, 2, '0') || ':' || lpad({{ second }}, 2, '0')
                || '.' || rpad({{ fraction }}, 6, '0')
                || case
                    when left({{ zone }}, 1) in ('+', '-')
                        then left({{ zone }}, 3) || ':' || lpad(replace(substr({{ zone }}, 4), ':', ''), 2, '0')
                    else '+00:00'
                end
        end
    {%- endset -%}
    {{ zoned_timestamp(written) }}
{%- endmacro %}
