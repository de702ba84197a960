{# The elements of a list as one text; nulls are left out. #}
{% macro array_join(list, separator) -%}
    {{ return(adapter.dispatch('array_join', 'hcat')(list, separator)) }}
{%- endmacro %}

{% macro default__array_join(list, separator) -%}
    array_to_string({{ list }}, '{{ separator }}')
{%- endmacro %}

{% macro spark__array_join(list, separator) -%}
    array_join({{ list }}, '{{ separator }}')
{%- endmacro %}
