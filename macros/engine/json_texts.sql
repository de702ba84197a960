{# A JSON list of texts as a list; null when the text is none. #}
{% macro json_texts(text) -%}
    {{ return(adapter.dispatch('json_texts', 'hcat')(text)) }}
{%- endmacro %}

{% macro default__json_texts(text) -%}
    try_cast(try_cast({{ text }} as json) as varchar[])
{%- endmacro %}

{% macro spark__json_texts(text) -%}
    from_json({{ text }}, 'array<string>')
{%- endmacro %}
