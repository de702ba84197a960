{# The texts of a group as one, in order. #}
{% macro joined_text(value, separator, order_by) -%}
    {{ return(adapter.dispatch('joined_text', 'hcat')(value, separator, order_by)) }}
{%- endmacro %}

{% macro default__joined_text(value, separator, order_by) -%}
    string_agg({{ value }}, {{ separator }} order by {{ order_by }})
{%- endmacro %}

{% macro spark__joined_text(value, separator, order_by) -%}
    listagg({{ value }}, {{ separator }}) within group (order by {{ order_by }})
{%- endmacro %}
