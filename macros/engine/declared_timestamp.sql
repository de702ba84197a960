{#
    Converts text of a declared format to a timestamp without zone, taken as UTC; null if it is not of that format. The
    format is epoch_seconds, epoch_milliseconds, or a pattern of strptime without zone.
#}
{% macro declared_timestamp(text, format) -%}
    {{ return(adapter.dispatch('declared_timestamp', 'hcat')(text, format)) }}
{%- endmacro %}

{% macro default__declared_timestamp(text, format) -%}
    {%- if format == 'epoch_seconds' -%}
        to_timestamp(try_cast({{ text }} as double)) at time zone 'UTC'
    {%- elif format == 'epoch_milliseconds' -%}
        epoch_ms(try_cast(try_cast({{ text }} as double) as bigint))
    {%- else -%}
        try_strptime({{ text }}, '{{ format | replace("'", "''") }}')::timestamp
    {%- endif -%}
{%- endmacro %}

{% macro spark__declared_timestamp(text, format) -%}
    {%- if format == 'epoch_seconds' -%}
        cast(timestamp_seconds(try_cast({{ text }} as double)) as timestamp_ntz)
    {%- elif format == 'epoch_milliseconds' -%}
        cast(timestamp_millis(try_cast(try_cast({{ text }} as double) as bigint)) as timestamp_ntz)
    {%- else -%}
        {#- the letters of Java; one stands for one or two digits -#}
        {%- set letters = {
            '%Y': 'yyyy', '%y': 'yy', '%m': 'M', '%d': 'd', '%H': 'H', '%I': 'h', '%M': 'm', '%S': 's', '%p': 'a',
            '%b': 'MMM', '%B': 'MMMM', '%f': 'SSSSSS'
        } -%}
        {%- set pattern = namespace(text=format | replace("'", "''")) -%}
        {%- for mark, letter in letters.items() -%}
            {%- set pattern.text = pattern.text | replace(mark, letter) -%}
        {%- endfor -%}
        cast(try_to_timestamp({{ text }}, '{{ pattern.text }}') as timestamp_ntz)
    {%- endif -%}
{%- endmacro %}
