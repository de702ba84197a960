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
