{# One row per element of a list, as a column of a select. The select may have only one such column. #}
{% macro explode(list) -%}
    {{ return(adapter.dispatch('explode', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__explode(list) -%}
    unnest({{ list }})
{%- endmacro %}

{% macro spark__explode(list) -%}
    explode({{ list }})
{%- endmacro %}

{# A row per record of a list, its fields as columns of the select. #}
{% macro explode_records(list) -%}
    {{ return(adapter.dispatch('explode_records', 'hcat')(list)) }}
{%- endmacro %}

{% macro default__explode_records(list) -%}
    unnest({{ list }}, recursive := true)
{%- endmacro %}

{% macro spark__explode_records(list) -%}
    inline({{ list }})
{%- endmacro %}

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

{# A record of named fields: name -> expression. #}
{% macro record(fields) -%}
    {{ return(adapter.dispatch('record', 'hcat')(fields)) }}
{%- endmacro %}

{% macro default__record(fields) -%}
    {{ '{' }}{% for name in fields %}'{{ name }}': {{ fields[name] }}{{ ', ' if not loop.last }}{% endfor %}{{ '}' }}
{%- endmacro %}

{% macro spark__record(fields) -%}
    named_struct({% for name in fields %}'{{ name }}', {{ fields[name] }}{{ ', ' if not loop.last }}{% endfor %})
{%- endmacro %}

{#
    The smallest records of a group (by their first field, then the second), as a list. DuckDB keeps them while it scans
    the rows, which takes a tenth of the time of sorting all.
#}
{% macro least_records(fields, count) -%}
    {{ return(adapter.dispatch('least_records', 'hcat')(fields, count)) }}
{%- endmacro %}

{% macro default__least_records(fields, count) -%}
    min({{ record(fields) }}, {{ count }})
{%- endmacro %}

{% macro spark__least_records(fields, count) -%}
    slice(array_sort(collect_list({{ record(fields) }})), 1, {{ count }})
{%- endmacro %}

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

{# The rows of a CSV file as texts; on Spark the header is the first of them. #}
{% macro rows_of_csv(path) %}
    {{ return(adapter.dispatch('rows_of_csv', 'hcat')(path)) }}
{% endmacro %}

{% macro default__rows_of_csv(path) %}
    {{ return("read_csv('" ~ path | replace("'", "''") ~ "', header = true, all_varchar = true)") }}
{% endmacro %}

{% macro spark__rows_of_csv(path) %}
    {{ return('csv.`file://' ~ path | replace('`', '``') ~ '`') }}
{% endmacro %}
