{# The text with every occurrence of a regular expression replaced by a text. #}
{% macro replace_pattern(text, pattern, replacement) -%}
    {{ return(adapter.dispatch('replace_pattern', 'hcat')(text, pattern, replacement)) }}
{%- endmacro %}

{% macro default__replace_pattern(text, pattern, replacement) -%}
    regexp_replace({{ text }}, '{{ pattern }}', '{{ replacement }}', 'g')
{%- endmacro %}

{% macro spark__replace_pattern(text, pattern, replacement) -%}
    regexp_replace({{ text }}, r'{{ pattern }}', '{{ replacement }}')
{%- endmacro %}
