{# A record of named fields: name -> expression. #}
{% macro record(fields) -%}
    {{ return(adapter.dispatch('record', 'hcat')(fields)) }}
{%- endmacro %}

{% macro default__record(fields) -%}
    {{ '{' }}{% for name in fields %}'{{ name }}': {{ fields[name] }}{{ ', ' if not loop.last }}{% endfor %}{{ '}' }}
{%- endmacro %}

{% macro spark__record(fields) -%}
    named_struct({% for name in fields %}'{{ name }}', {{ fields[name] }}{{ ', ' if not loop.last }}{% endfor %})
{%- endmacro %}
