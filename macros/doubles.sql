{# Number literals as doubles. A literal with a point would be a decimal, which engines round differently. #}
{% macro doubles(numbers) %}
    {%- set literals = [] -%}
    {%- for number in numbers %}{% do literals.append(number ~ '::double') %}{% endfor -%}
    {{- return(literals) -}}
{% endmacro %}
