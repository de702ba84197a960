{# Sum of integers whose total may not fit 64 bits; DuckDB widens by itself. #}
{% macro wide_sum(column) -%}
    {{ return(adapter.dispatch('wide_sum', 'hcat')(column)) }}
{%- endmacro %}

{% macro default__wide_sum(column) -%}
    sum({{ column }})
{%- endmacro %}

{% macro spark__wide_sum(column) -%}
    sum(cast({{ column }} as decimal(38, 0)))
{%- endmacro %}
