{#
    Drops columns of a table that keeps its rows. The table is written anew: Parquet cannot drop a column, and DuckDB
    would keep a check that calls a function, with which it cannot replay its log (decision 50).
#}
{% macro drop_columns(relation, names) %}
    {% set kept = [] %}
    {% for column in adapter.get_columns_in_relation(relation) if column.name not in names %}
        {% do kept.append(adapter.quote(column.name)) %}
    {% endfor %}
    {% set fresh = relation.incorporate(path={'identifier': relation.identifier ~ '__dbt_new'}) %}
    {% do adapter.drop_relation(fresh) %}
    {% do run_query('create table ' ~ fresh ~ ' as select ' ~ kept | join(', ') ~ ' from ' ~ relation) %}
    {% do adapter.drop_relation(relation) %}
    {% do adapter.rename_relation(fresh, relation) %}
{% endmacro %}
