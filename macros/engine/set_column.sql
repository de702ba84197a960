{#
    Sets a column of the rows of a table for which the condition holds. A column that is not there yet is added. The table
    is called `written` in both expressions.
#}
{% macro set_column(relation, column, type, value, condition='true') %}
    {% do adapter.dispatch('set_column', 'hcat')(relation, column, type, value, condition) %}
{% endmacro %}

{% macro duckdb__set_column(relation, column, type, value, condition) %}
    {% do run_query('alter table ' ~ relation ~ ' add column if not exists ' ~ column ~ ' ' ~ type) %}
    {% do run_query(
        'update ' ~ relation ~ ' as written set ' ~ column ~ ' = ' ~ value ~ ' where ' ~ condition
    ) %}
{% endmacro %}

{# The table is written anew, which needs no update: Parquet has none. #}
{% macro default__set_column(relation, column, type, value, condition) %}
    {% set columns, names = [], adapter.get_columns_in_relation(relation) | map(attribute='name') | list %}
    {% set before = column if column in names else 'null' %}
    {% set changed = 'case when ' ~ condition ~ ' then ' ~ value ~ ' else ' ~ before ~ ' end' %}
    {% for name in names + ([] if column in names else [column]) %}
        {% set expression = 'cast(' ~ changed ~ ' as ' ~ type ~ ') as ' if name == column else '' %}
        {% do columns.append(expression ~ adapter.quote(name)) %}
    {% endfor %}
    {% set fresh = relation.incorporate(path={'identifier': relation.identifier ~ '__dbt_new'}, type='table') %}
    {% do adapter.drop_relation(fresh) %}
    {% do run_query(
        'create table ' ~ fresh ~ ' as select ' ~ columns | join(', ') ~ ' from ' ~ relation ~ ' as written'
    ) %}
    {% do adapter.drop_relation(relation) %}
    {% do adapter.rename_relation(fresh, relation) %}
{% endmacro %}
