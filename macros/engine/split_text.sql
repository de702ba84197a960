{# The parts of a text between separators, as a list. #}
{% macro split_text(text, separator) -%}
    {{ return(adapter.dispatch('split_text', 'hcat')(text, separator)) }}
{%- endmacro %}

{% macro default__split_text(text, separator) -%}
    string_split({{ text }}, '{{ separator }}')
{%- endmacro %}

{% macro spark__split_text(text, separator) -%}
    split({{ text }}, '\Q{{ separator }}\E')
{%- endmacro %}
