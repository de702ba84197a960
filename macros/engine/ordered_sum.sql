{# Sum of the values of a group, in order. The order affects the last bits of a sum, and a rerun must change nothing. #}
{% macro ordered_sum(value, order_by) -%}
    {{ return(adapter.dispatch('ordered_sum', 'hcat')(value, order_by)) }}
{%- endmacro %}

{% macro default__ordered_sum(value, order_by) -%}
    sum({{ value }} order by {{ order_by }})
{%- endmacro %}

{% macro spark__ordered_sum(value, order_by) -%}
    aggregate({{ ordered_array('cast(' ~ value ~ ' as double)', order_by) }}, cast(0 as double), (total, each) -> total + each)
{%- endmacro %}
