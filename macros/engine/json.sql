{# True for the text of a JSON object. #}
{% macro is_json_object(text) -%}
    {{ return(adapter.dispatch('is_json_object', 'hcat')(text)) }}
{%- endmacro %}

{% macro default__is_json_object(text) -%}
    coalesce(json_type(try_cast({{ text }} as json)), '') = 'OBJECT'
{%- endmacro %}

{% macro spark__is_json_object(text) -%}
    coalesce(schema_of_variant(try_parse_json({{ text }})), '') like 'OBJECT%'
{%- endmacro %}

{# Text of a field of a JSON object; `field` is an expression. #}
{% macro json_field(document, field) -%}
    {{ return(adapter.dispatch('json_field', 'hcat')(document, field)) }}
{%- endmacro %}

{% macro default__json_field(document, field) -%}
    json_extract_string({{ document }}, '$."' || {{ field }} || '"')
{%- endmacro %}

{% macro spark__json_field(document, field) -%}
    get_json_object({{ document }}, '$[''' || {{ field }} || ''']')
{%- endmacro %}

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

{# Converts a JSON list of numbers to a list of doubles; null where the text is no list, null inside for no number. #}
{% macro json_numbers(text) -%}
    {{ array_map(json_texts(text), 'try_cast(each as double)') }}
{%- endmacro %}
