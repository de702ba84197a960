{# The text without outer blanks; null when nothing is left. #}
{% macro text_or_null(column) %}
    case when not {{ is_blank(column) }} then trim({{ column }}) end
{%- endmacro %}
