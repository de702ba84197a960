{# Converts a JSON list of texts to a list; null when the text is no such list. #}
{% macro json_texts(text) -%}
    {{ return(adapter.dispatch('json_texts', 'hcat')(text)) }}
{%- endmacro %}

{% macro default__json_texts(text) -%}
    try_cast(try_cast({{ text }} as json) as varchar[])
{%- endmacro %}

{% macro spark__json_texts(text) -%}
    from_json({{ text }}, 'array<string>')
{%- endmacro %}
