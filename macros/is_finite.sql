{# True for a number that is neither infinite nor NaN, which both engines hold to be greater than any number. #}
{% macro is_finite(number) -%}
    abs({{ number }}) < 'infinity'::double
{%- endmacro %}
