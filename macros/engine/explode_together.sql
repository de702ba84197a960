{# A row per position of several lists (column name -> list), as columns of a select; shorter lists end in nulls. #}
{% macro explode_together(lists) -%}
    {{ return(adapter.dispatch('explode_together', 'hcat')(lists)) }}
{%- endmacro %}

{% macro default__explode_together(lists) -%}
    {% for name, list in lists.items() %}unnest({{ list }}) as {{ name }}{{ ', ' if not loop.last }}{% endfor %}
{%- endmacro %}

{% macro spark__explode_together(lists) -%}
    {#- One null list would make the whole result null. -#}
    inline(arrays_zip(coalesce({{ lists.values()|join(', array()),coalesce(') }}, array()))) as ({{ lists|join(', ') }})
{%- endmacro %}
