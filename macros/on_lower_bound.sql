{# The conditions of a join of values with the steps that begin at or below them. #}
{% macro on_lower_bound(steps, keys, values, column) -%}
    on
            {% for key in keys %}{{ values }}.{{ key }} = {{ steps }}.{{ key }} and {% endfor %}  -- noqa: LT02
            {{ values }}.{{ column }} >= {{ steps }}.lower_bound
{%- endmacro %}
