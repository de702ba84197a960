{# The fields of a JSON object whose values are texts, as a list of records (key, value); null for other texts. #}
{% macro json_entries(document) -%}
    {{ return(adapter.dispatch('json_entries', 'hcat')(document)) }}
{%- endmacro %}

{% macro default__json_entries(document) -%}
    map_entries(try_cast(try_cast({{ document }} as json) as map(varchar, varchar)))
{%- endmacro %}

{% macro spark__json_entries(document) -%}
    map_entries(from_json({{ document }}, 'map<string,string>'))
{%- endmacro %}
