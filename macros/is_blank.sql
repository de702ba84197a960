{# True for null, empty, white space of any script and invisible format characters. #}
{% macro is_blank(column) %}
    coalesce({{ matches_pattern(column, '\\A[\\s\\p{Z}\\p{Cf}]*\\z') }}, true)
{%- endmacro %}
