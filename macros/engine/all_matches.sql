{# What the first group of a regular expression matched, each time, as a list of texts. #}
{% macro all_matches(text, pattern) -%}
    {{ return(adapter.dispatch('all_matches', 'hcat')(text, pattern)) }}
{%- endmacro %}

{% macro default__all_matches(text, pattern) -%}
    regexp_extract_all({{ text }}, '{{ pattern }}', 1)
{%- endmacro %}

{% macro spark__all_matches(text, pattern) -%}
    regexp_extract_all({{ text }}, r'{{ pattern }}', 1)
{%- endmacro %}
