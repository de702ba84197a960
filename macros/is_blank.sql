{# True for null, empty, white space of any script and invisible format characters. #}
{% macro is_blank(column) %}
    coalesce({{ matches_whole_pattern(column, '[\\s\\p{Z}\\p{Cf}]*') }}, true)
{%- endmacro %}
