{# True when a text starts with another. #}
{% macro text_starts_with(text, start) -%}
    {{ return(adapter.dispatch('text_starts_with', 'hcat')(text, start)) }}
{%- endmacro %}

{% macro default__text_starts_with(text, start) -%}
    starts_with({{ text }}, {{ start }})
{%- endmacro %}

{% macro spark__text_starts_with(text, start) -%}
    startswith({{ text }}, {{ start }})
{%- endmacro %}
