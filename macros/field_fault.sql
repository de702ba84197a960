{# Says that an optional field could not be read: its text is there, and its value is not. #}
{% macro field_fault(column, what, is_missing=none) -%}
    case
        when {{ column }}_text is not null and {{ is_missing or column ~ ' is null' }}
            then '{{ column }} is not {{ what }}: ' || left({{ column }}_text, 80)
    end
{%- endmacro %}
