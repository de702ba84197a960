{#
    Renames a column of a table that keeps its rows. The table is written anew: Parquet cannot rename a column, and DuckDB
    would keep a check that calls a function, with which it cannot replay its log (decision 50).
#}
{% macro rename_column(relation, before, now) %}
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
