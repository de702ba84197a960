{# A number as an integer of at least 38 digits. #}
{% macro whole_number(number) -%}
    {{ return(adapter.dispatch('whole_number', 'hcat')(number)) }}
{%- endmacro %}

{% macro default__whole_number(number) -%}
    ({{ number }})::hugeint
{%- endmacro %}

{% macro spark__whole_number(number) -%}
    cast({{ number }} as decimal(38, 0))
{%- endmacro %}
