{#
    Converts text to an integer; null when it is no whole number, or one below `least`. Some loggers write 1 as 1.0, which
    counts as 1.
#}
{% macro integer_or_null(column, least=none) %}
    {%- set number = 'try_cast(' ~ column ~ ' as double)' -%}
    {%- set bound = '' if least is none else ' and ' ~ number ~ ' >= ' ~ least -%}
    case when {{ number }} = floor({{ number }}){{ bound }} then try_cast({{ number }} as integer) end
{%- endmacro %}
