{# Converts text to an integer; null when it is no whole number. Some loggers write 1 as 1.0, which counts as 1. #}
{% macro integer_or_null(column) %}
    case
        when try_cast({{ column }} as double) = floor(try_cast({{ column }} as double))
            then try_cast(try_cast({{ column }} as double) as integer)
    end
{%- endmacro %}
