{# Whole days from the first date to the last. #}
{% macro days_between(first_day, last_day) -%}
    {{ return(adapter.dispatch('days_between', 'hcat')(first_day, last_day)) }}
{%- endmacro %}

{% macro default__days_between(first_day, last_day) -%}
    {{ last_day }} - {{ first_day }}
{%- endmacro %}

{% macro spark__days_between(first_day, last_day) -%}
    datediff({{ last_day }}, {{ first_day }})
{%- endmacro %}

{#
    Converts text of a declared format to a UTC timestamp without zone; null if it is not of that format. The format is
    epoch_seconds, epoch_milliseconds, or a pattern of strptime, whose times are UTC unless its %z reads an offset.
#}
{% macro declared_timestamp(text, format) -%}
    {%- if '%Z' in format -%}
        {{ exceptions.raise_compiler_error(
            "hcat_timestamp_format '" ~ format ~ "' reads names of time zones (%Z): log an offset and read it with %z"
        ) }}
    {%- elif format in ('epoch_seconds', 'epoch_milliseconds') -%}
        {#- a number beyond the year 5000 would end the build: no interval holds it -#}
        {%- set unit, bound = ('millisecond', '1e14') if format == 'epoch_milliseconds' else ('second', '1e11') -%}
        timestamp '1970-01-01 00:00:00' + interval '1 {{ unit }}'
        * case when abs(try_cast({{ text }} as double)) < {{ bound }} then try_cast({{ text }} as double) end
    {%- else -%}
        {{ return(adapter.dispatch('declared_timestamp', 'hcat')(text, format | replace("'", "''"))) }}
    {%- endif -%}
{%- endmacro %}

{# With %z the engine returns a moment, and its cast to a time without zone would take the zone of the session. #}
{% macro default__declared_timestamp(text, format) -%}
    try_strptime({{ text }}, '{{ format }}'){{ " at time zone 'UTC'" if '%z' in format else '::timestamp' }}
{%- endmacro %}

{# The letters of Java; one stands for one or two digits. #}
{% macro spark__declared_timestamp(text, format) -%}
    {%- set date = format | replace('%Y', 'yyyy') | replace('%y', 'yy') | replace('%m', 'M') | replace('%d', 'd') -%}
    {%- set date = date | replace('%B', 'MMMM') | replace('%b', 'MMM') | replace('%H', 'H') | replace('%I', 'h') -%}
    {%- set time = date | replace('%M', 'm') | replace('%S', 's') | replace('%f', 'SSSSSS') | replace('%p', 'a') -%}
    {%- set inputs = "(" ~ text ~ ", '" ~ time | replace('%z', '[XXX][XX][X]') ~ "')" -%}
    {#- With an offset only the second function returns a moment. It raises where the first one returns null. -#}
    {%- set moment = 'case when try_to_timestamp' ~ inputs ~ ' is not null then to_timestamp_ltz' ~ inputs ~ ' end' -%}
    cast({{ moment if '%z' in format else 'try_to_timestamp' ~ inputs }} as timestamp_ntz)
{%- endmacro %}

{#
    Converts text with an explicit offset to a UTC timestamp without zone; null if there is no such moment. No other text
    may come here: utc_timestamp writes it. Spark sessions use UTC.
#}
{% macro zoned_timestamp(text) -%}
    {{ return(adapter.dispatch('zoned_timestamp', 'hcat')(text)) }}
{%- endmacro %}

{% macro default__zoned_timestamp(text) -%}
    try_cast({{ text }} as timestamp with time zone) at time zone 'UTC'
{%- endmacro %}

{% macro spark__zoned_timestamp(text) -%}
    cast(try_cast({{ text }} as timestamp_ltz) as timestamp_ntz)
{%- endmacro %}

{#
    Converts ISO 8601 or RFC 3339 text to a UTC timestamp without zone; null when the text is neither. Text without an
    offset is written anew with one, because DuckDB keeps the zone that one text names for the texts after it. No offset
    means UTC, and so do Z, UTC and GMT. Another name of a zone is unreadable, unless an offset stands before it, as in
    2026-05-04T09:12:00-04:00[America/New_York]. A date of eight digits alone may as well be a number. Ten digits are the
    seconds since 1970, thirteen the milliseconds: each has one reading until the year 2286.
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
    case
        when {{ matches_pattern(column, '^[0-9]{10}([.][0-9]+)?$') }}
            then {{ declared_timestamp(column, 'epoch_seconds') }}
        when {{ matches_pattern(column, '^[0-9]{13}([.][0-9]+)?$') }}
            then {{ declared_timestamp(column, 'epoch_milliseconds') }}
        else {{ zoned_timestamp(written) }}
    end
{%- endmacro %}
