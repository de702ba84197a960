{# A 64-bit hash of a column. It is constant within a build and never shown, because engines differ. #}
{% macro hash_number(column) -%}
    {{ return(adapter.dispatch('hash_number', 'hcat')(column)) }}
{%- endmacro %}

{% macro default__hash_number(column) -%}
    hash({{ column }})
{%- endmacro %}

{% macro spark__hash_number(column) -%}
    xxhash64({{ column }})
{%- endmacro %}

{# A 64-bit hash of several columns, nulls included. It is constant within a build and never stored, because engines and
   their versions differ. #}
{% macro hash_row(columns) -%}
    {{ return(adapter.dispatch('hash_row', 'hcat')(columns)) }}
{%- endmacro %}

{% macro default__hash_row(columns) -%}
    hash({{ columns | join(', ') }})
{%- endmacro %}

{# xxhash64 passes over nulls, wherever they stand; JSON names the columns that are there. #}
{% macro spark__hash_row(columns) -%}
    xxhash64(to_json(struct({{ columns | join(', ') }})))
{%- endmacro %}

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

{# Sum of the values of a group, in order. The order affects the last bits of a sum, and a rerun must change nothing. #}
{% macro ordered_sum(value, order_by) -%}
    {{ return(adapter.dispatch('ordered_sum', 'hcat')(value, order_by)) }}
{%- endmacro %}

{% macro default__ordered_sum(value, order_by) -%}
    sum({{ value }} order by {{ order_by }})
{%- endmacro %}

{% macro spark__ordered_sum(value, order_by) -%}
    aggregate({{ ordered_array('cast(' ~ value ~ ' as double)', order_by) }}, cast(0 as double), (total, each) -> total + each)
{%- endmacro %}

{# Quantiles of a column, interpolated, as a list. #}
{% macro quantiles_of(column, shares) -%}
    {{ return(adapter.dispatch('quantiles_of', 'hcat')(column, shares)) }}
{%- endmacro %}

{% macro default__quantiles_of(column, shares) -%}
    quantile_cont({{ column }}, {{ shares }})
{%- endmacro %}

{% macro spark__quantiles_of(column, shares) -%}
    percentile({{ column }}, array({{ shares | join(', ') }}))
{%- endmacro %}

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
