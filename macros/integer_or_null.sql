{#
    Converts text to an integer; null when it is no whole number, or one below `least`. Some loggers write 1 as 1.0, which
    counts as 1.
#}
{% macro integer_or_null(column, least=none) %}
    case
        when
            try_cast({{ column }} as double) = floor(try_cast({{ column }} as double))
            {%- if least is not none %}
            and try_cast({{ column }} as double) >= {{ least }}
            {%- endif %}
            then try_cast(try_cast({{ column }} as double) as integer)
    end
{%- endmacro %}
