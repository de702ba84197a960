{#- A value by which rows are grouped and shown; 'unnamed' where it is null. -#}
{% macro named(value) -%}
    coalesce({{ value }}, 'unnamed')
{%- endmacro %}
