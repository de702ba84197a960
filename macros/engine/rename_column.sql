{# Renames a column of a table that keeps its rows. #}
{% macro rename_column(relation, before, now) %}
    {{ return(adapter.dispatch('rename_column', 'hcat')(relation, before, now)) }}
{% endmacro %}

{% macro default__rename_column(relation, before, now) %}
    {% do run_query(
        'alter table ' ~ relation ~ ' rename column ' ~ adapter.quote(before) ~ ' to ' ~ adapter.quote(now)
    ) %}
{% endmacro %}

{# Parquet cannot rename a column, so the table is written anew. #}
{% macro spark__rename_column(relation, before, now) %}
    {% set columns = [] %}
    {% for column in adapter.get_columns_in_relation(relation) %}
        {% set name = adapter.quote(column.name) %}
        {% do columns.append(name ~ ' as ' ~ adapter.quote(now) if column.name == before else name) %}
    {% endfor %}
    {% do replace_table(relation, 'select ' ~ columns | join(', ') ~ ' from ' ~ relation) %}
{% endmacro %}
