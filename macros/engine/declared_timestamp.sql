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
