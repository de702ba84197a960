{# All columns but the named ones. #}
{% macro columns_except(names) -%}
    {{ return(adapter.dispatch('columns_except', 'hcat')(names)) }}
{%- endmacro %}

{% macro default__columns_except(names) -%}
    * exclude ({{ names | join(', ') }})
{%- endmacro %}

{% macro spark__columns_except(names) -%}
    * except ({{ names | join(', ') }})
{%- endmacro %}
