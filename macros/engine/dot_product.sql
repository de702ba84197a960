{# Sum of the products of the elements of two lists of doubles. #}
{% macro dot_product(first, second) -%}
    {{ return(adapter.dispatch('dot_product', 'hcat')(first, second)) }}
{%- endmacro %}

{% macro default__dot_product(first, second) -%}
    list_dot_product({{ first }}, {{ second }})
{%- endmacro %}

{% macro spark__dot_product(first, second) -%}
    aggregate(zip_with({{ first }}, {{ second }}, (x, y) -> x * y), 0::double, (total, each) -> total + each)
{%- endmacro %}
