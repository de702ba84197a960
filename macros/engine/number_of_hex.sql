{# The integer of up to 15 hexadecimal digits. #}
{% macro number_of_hex(digits) -%}
    {{ return(adapter.dispatch('number_of_hex', 'hcat')(digits)) }}
{%- endmacro %}

{% macro default__number_of_hex(digits) -%}
    ('0x' || {{ digits }})::ubigint
{%- endmacro %}

{% macro spark__number_of_hex(digits) -%}
    cast(conv({{ digits }}, 16, 10) as bigint)
{%- endmacro %}
