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
