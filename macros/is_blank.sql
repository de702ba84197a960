{# True for null, empty, white space of any script and invisible format characters. #}
{% macro is_blank(column) %}
    ({{ column }} is null or regexp_full_match({{ column }}, '[\s\p{Z}\p{Cf}]*'))
{%- endmacro %}
