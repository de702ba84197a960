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
