{# True when the regular expression is found in the text. #}
{% macro matches_pattern(text, pattern) -%}
    {{ return(adapter.dispatch('matches_pattern', 'hcat')(text, pattern)) }}
{%- endmacro %}

{% macro default__matches_pattern(text, pattern) -%}
    regexp_matches({{ text }}, '{{ pattern }}')
{%- endmacro %}

{% macro spark__matches_pattern(text, pattern) -%}
    regexp_like({{ text }}, r'{{ pattern }}')
{%- endmacro %}
