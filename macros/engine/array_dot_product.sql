{# Sum of the products of two lists of equal length. #}
{% macro array_dot_product(first, second) -%}
    {{ return(adapter.dispatch('array_dot_product', 'hcat')(first, second)) }}
{%- endmacro %}

{% macro default__array_dot_product(first, second) -%}
    list_dot_product({{ first }}, {{ second }})
{%- endmacro %}

{% macro spark__array_dot_product(first, second) -%}
    aggregate(zip_with({{ first }}, {{ second }}, (x, y) -> x * y), cast(0 as double), (total, x) -> total + x)
{%- endmacro %}
