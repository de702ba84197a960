{# The most frequent value of the rows where the condition holds, the smallest of equals. #}
{% macro most_frequent(value, condition) -%}
    {{ return(adapter.dispatch('most_frequent', 'hcat')(value, condition)) }}
{%- endmacro %}

{% macro default__most_frequent(value, condition) -%}
    mode({{ value }} order by {{ value }}) filter (where {{ condition }})
{%- endmacro %}

{% macro spark__most_frequent(value, condition) -%}
    mode() within group (order by {{ value }}) filter (where {{ condition }})
{%- endmacro %}
