{# Quantiles of a column, interpolated, as a list. #}
{% macro quantiles_of(column, shares) -%}
    {{ return(adapter.dispatch('quantiles_of', 'hcat')(column, shares)) }}
{%- endmacro %}

{% macro default__quantiles_of(column, shares) -%}
    quantile_cont({{ column }}, {{ shares }})
{%- endmacro %}

{% macro spark__quantiles_of(column, shares) -%}
    percentile({{ column }}, array({{ shares | join(', ') }}))
{%- endmacro %}
