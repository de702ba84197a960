{#
    The text without outer blanks (space, tab, line breaks, no-break, zero-width and ideographic space); null when
    nothing is left.
#}
{% macro text_or_null(column) %}
    case when not {{ is_blank(column) }} then {{ trim_blanks(column) }} end
{%- endmacro %}
