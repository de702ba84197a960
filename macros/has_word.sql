{#
    Whether a word or phrase stands in a text as such, whatever its case. chr(92) is the backslash: written as one, it
    would escape on Spark.
#}
{% macro has_word(text, word) -%}
    regexp_extract(lower({{ text }}), chr(92) || 'b' || lower({{ word }}) || chr(92) || 'b', 0) <> ''
{%- endmacro %}
