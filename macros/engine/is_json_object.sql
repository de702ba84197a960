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
