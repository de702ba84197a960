{#
    The text without outer blanks (space, tab, line breaks, no-break, zero-width and ideographic space); null when
    nothing is left.
#}
{% macro text_or_null(column) %}
    case
        when not {{ is_blank(column) }}
            then trim({{ column }}, ' ' || chr(9) || chr(10) || chr(13) || chr(160) || chr(8203) || chr(12288))
    end
{%- endmacro %}
