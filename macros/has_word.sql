{#
    Whether a whole word or phrase stands in a text, whatever its case. chr(92) is the backslash, because a literal
    backslash would start an escape on Spark.
#}
{% macro has_word(text, word) -%}
    regexp_extract(lower({{ text }}), chr(92) || 'b' || lower({{ word }}) || chr(92) || 'b', 0) <> ''
{%- endmacro %}
