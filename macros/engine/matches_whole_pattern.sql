{# True when the whole text is of the regular expression. #}
{% macro matches_whole_pattern(text, pattern) -%}
    {{ return(adapter.dispatch('matches_whole_pattern', 'hcat')(text, pattern)) }}
{%- endmacro %}

{% macro default__matches_whole_pattern(text, pattern) -%}
    regexp_full_match({{ text }}, '{{ pattern }}')
{%- endmacro %}

{% macro spark__matches_whole_pattern(text, pattern) -%}
    regexp_like({{ text }}, '\A(?:{{ pattern }})\z')
{%- endmacro %}
