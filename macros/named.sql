{#- A value by which rows are grouped and shown, or the name of what has none. -#}
{% macro named(value) -%}
coalesce({{ value }}, 'unnamed')
{%- endmacro %}
