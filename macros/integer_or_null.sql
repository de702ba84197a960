{# Text to an integer, 1.0 being 1, as some loggers write integers; null when it is no whole number. #}
{% macro integer_or_null(column) %}
    case
        when try_cast({{ column }} as double) = floor(try_cast({{ column }} as double))
            then try_cast(try_cast({{ column }} as double) as integer)
    end
{%- endmacro %}
