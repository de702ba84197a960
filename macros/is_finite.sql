{# True for a number that is neither infinite nor NaN. Both engines sort NaN above every number. #}
{% macro is_finite(number) -%}
    abs({{ number }}) < 'infinity'::double
{%- endmacro %}
