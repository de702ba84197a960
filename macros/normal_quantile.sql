{# Two-sided standard normal quantile of the project's confidence, from a closed list: SQL has no such function. #}
{% macro normal_quantile() %}
    {%- set quantiles = {'0.9': 1.6448536269514722, '0.95': 1.959963984540054, '0.99': 2.5758293035489004} -%}
    {%- set confidence = var('hcat_confidence') | string -%}
    {%- if confidence not in quantiles -%}
        {{ exceptions.raise_compiler_error("hcat_confidence must be 0.9, 0.95 or 0.99, got " ~ confidence) }}
    {%- endif -%}
    {{- quantiles[confidence] -}}
{% endmacro %}
