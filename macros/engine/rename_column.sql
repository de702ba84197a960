{# Renames a column of a table that keeps its rows. #}
{% macro rename_column(relation, before, now) %}
    {{ return(adapter.dispatch('rename_column', 'hcat')(relation, before, now)) }}
{% endmacro %}

{# Parquet cannot rename a column, so the table is written anew. #}
{% macro default__rename_column(relation, before, now) %}
    {% set columns = [] %}
    {% for column in adapter.get_columns_in_relation(relation) %}
        {% set name = adapter.quote(column.name) %}
        {% do columns.append(name ~ ' as ' ~ adapter.quote(now) if column.name == before else name) %}
    {% endfor %}
    {% set fresh = relation.incorporate(path={'identifier': relation.identifier ~ '__dbt_new'}) %}
    {% do adapter.drop_relation(fresh) %}
    {% do run_query('create table ' ~ fresh ~ ' as select ' ~ columns | join(', ') ~ ' from ' ~ relation) %}
    {% do adapter.drop_relation(relation) %}
    {% do adapter.rename_relation(fresh, relation) %}
{% endmacro %}

{# In place, with the constraints of the table. #}
{% macro duckdb__rename_column(relation, before, now) %}
    {% do run_query(
        'alter table ' ~ relation ~ ' rename column ' ~ adapter.quote(before) ~ ' to ' ~ adapter.quote(now)
    ) %}
{% endmacro %}
