{# The list of days from the first to the last. #}
{% macro day_series(first_day, last_day) -%}
    {{ return(adapter.dispatch('day_series', 'hcat')(first_day, last_day)) }}
{%- endmacro %}

{% macro default__day_series(first_day, last_day) -%}
    generate_series({{ first_day }}, {{ last_day }}, interval '1 day')
{%- endmacro %}

{% macro spark__day_series(first_day, last_day) -%}
    sequence({{ first_day }}, {{ last_day }}, interval 1 day)
{%- endmacro %}
