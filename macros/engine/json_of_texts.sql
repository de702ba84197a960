{# A JSON object of named texts (name -> expression) as text; nulls are left out. #}
{% macro json_of_texts(fields) -%}
    {{ return(adapter.dispatch('json_of_texts', 'hcat')(fields)) }}
{%- endmacro %}

{% macro default__json_of_texts(fields) -%}
    json_merge_patch(
        '{}'::json,
        json_object({% for name in fields %}'{{ name }}', {{ fields[name] }}{{ ', ' if not loop.last }}{% endfor %})
    )::varchar
{%- endmacro %}

{% macro spark__json_of_texts(fields) -%}
    to_json({{ record(fields) }})
{%- endmacro %}
