{# A list of the given expressions. #}
{% macro array_of(items) -%}
    {{ return(adapter.dispatch('array_of', 'hcat')(items)) }}
{%- endmacro %}

{% macro default__array_of(items) -%}
    [{{ items | join(', ') }}]
{%- endmacro %}

{% macro spark__array_of(items) -%}
    array({{ items | join(', ') }})
{%- endmacro %}
