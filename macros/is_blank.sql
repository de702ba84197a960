{# True for null, empty, white space of any script and invisible format characters. #}
{% macro is_blank(column) %}
    coalesce(regexp_full_match({{ column }}, '[\s\p{Z}\p{Cf}]*'), true)
{%- endmacro %}
