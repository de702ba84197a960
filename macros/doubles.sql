{# Number literals as doubles: a literal with a point is a decimal, whose arithmetic rounds differently by engine. #}
{% macro doubles(numbers) %}
    {%- set literals = [] -%}
    {%- for number in numbers %}{% do literals.append(number ~ '::double') %}{% endfor -%}
    {{- return(literals) -}}
{% endmacro %}
