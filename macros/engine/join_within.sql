{#
    Joins the row of a table of steps whose interval [lower_bound, upper_bound) contains the value. The last interval is
    open. DuckDB searches sorted steps instead of comparing every value with every step.
#}
{% macro join_within(steps, keys, values, column) -%}
    {{ return(adapter.dispatch('join_within', 'hcat')(steps, keys, values, column)) }}
{%- endmacro %}

{% macro default__join_within(steps, keys, values, column) -%}
    asof inner join {{ steps }} {{ on_lower_bound(steps, keys, values, column) }}
{%- endmacro %}

{# Without asof, which implies the upper bound. #}
{% macro spark__join_within(steps, keys, values, column) -%}
    inner join {{ steps }} {{ on_lower_bound(steps, keys, values, column) }}
    and {{ values }}.{{ column }} < coalesce({{ steps }}.upper_bound, 'infinity'::double)
{%- endmacro %}
