{# Converts text to a double; null when it is no finite number, or when the bound, for instance '> 0', does not hold. #}
{% macro finite_or_null(text, bound='is not null') -%}
    case
        when {{ is_finite('try_cast(' ~ text ~ ' as double)') }} and try_cast({{ text }} as double) {{ bound }}
            then try_cast({{ text }} as double)
    end
{%- endmacro %}
