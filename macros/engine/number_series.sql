{# The list 0, 1, ... of the given length. #}
{% macro number_series(length) -%}
    {{ return(adapter.dispatch('number_series', 'hcat')(length)) }}
{%- endmacro %}

{% macro default__number_series(length) -%}
    range({{ length }})
{%- endmacro %}

{% macro spark__number_series(length) -%}
    (case when {{ length }} > 0 then sequence(0, cast({{ length }} as int) - 1) else array() end)
{%- endmacro %}
