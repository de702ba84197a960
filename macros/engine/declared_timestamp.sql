{#
    Converts text of a declared format to a timestamp without zone, taken as UTC; null if it is not of that format. The
    format is epoch_seconds, epoch_milliseconds, or a pattern of strptime without zone.
#}
{% macro declared_timestamp(text, format) -%}
    {%- if format in ('epoch_seconds', 'epoch_milliseconds') -%}
        timestamp '1970-01-01 00:00:00'
        + interval '1 {{ 'millisecond' if format == 'epoch_milliseconds' else 'second' }}' * try_cast({{ text }} as double)
    {%- else -%}
        {{ return(adapter.dispatch('declared_timestamp', 'hcat')(text, format | replace("'", "''"))) }}
    {%- endif -%}
{%- endmacro %}

{% macro default__declared_timestamp(text, format) -%}
    try_strptime({{ text }}, '{{ format }}')::timestamp
{%- endmacro %}

{# The letters of Java; one stands for one or two digits. #}
{% macro spark__declared_timestamp(text, format) -%}
    {%- set date = format | replace('%Y', 'yyyy') | replace('%y', 'yy') | replace('%m', 'M') | replace('%d', 'd') -%}
    {%- set date = date | replace('%B', 'MMMM') | replace('%b', 'MMM') | replace('%H', 'H') | replace('%I', 'h') -%}
    {%- set pattern = date | replace('%M', 'm') | replace('%S', 's') | replace('%f', 'SSSSSS') | replace('%p', 'a') -%}
    cast(try_to_timestamp({{ text }}, '{{ pattern }}') as timestamp_ntz)
{%- endmacro %}
