{#
    Joins the row of a table of steps whose interval [lower_bound, upper_bound) contains the value. The last interval is
    open. DuckDB searches sorted steps instead of comparing every value with every step.
#}
{% macro join_within(steps, keys, values, column) -%}
    {{ return(adapter.dispatch('join_within', 'hcat')(steps, keys, values, column)) }}
{%- endmacro %}

{% macro default__join_within(steps, keys, values, column) -%}
    asof inner join {{ steps }}
        on
            {% for key in keys %}{{ values }}.{{ key }} = {{ steps }}.{{ key }} and {% endfor %}  -- noqa: LT02
            {{ values }}.{{ column }} >= {{ steps }}.lower_bound
{%- endmacro %}

{# The same conditions without asof, and the upper bound that asof implies. #}
{% macro spark__join_within(steps, keys, values, column) -%}
    {{ default__join_within(steps, keys, values, column) | replace('asof inner join', 'inner join') }}
    and {{ values }}.{{ column }} < coalesce({{ steps }}.upper_bound, 'infinity'::double)
{%- endmacro %}
