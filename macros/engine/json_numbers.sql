{# Converts a JSON list of numbers to a list of doubles; null, or null inside of it, where the text is no such list. #}
{% macro json_numbers(text) -%}
    {{ return(adapter.dispatch('json_numbers', 'hcat')(text)) }}
{%- endmacro %}

{% macro default__json_numbers(text) -%}
    try_cast(try_cast({{ text }} as json) as double[])
{%- endmacro %}

{% macro spark__json_numbers(text) -%}
    from_json({{ text }}, 'array<double>')
{%- endmacro %}
