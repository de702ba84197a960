{#
    Sets a column of the rows of a table for which the condition holds. A column that is not there yet is added. Parquet
    has no update: the changed rows are written beside the table and then take the place of the old ones. The table is
    called `written` in the value.
#}
{% macro set_column(relation, column, type, value, condition='true') %}
    {% if not has_column(relation, column) %}
        {% do run_query('alter table ' ~ relation ~ ' add column ' ~ column ~ ' ' ~ type) %}
    {% endif %}
    {% set changed = relation.incorporate(path={'identifier': relation.identifier ~ '__changed'}, type='table') %}
    {% do adapter.drop_relation(changed) %}
    {% do run_query(
        'create table ' ~ changed ~ ' as select ' ~ columns_except([column]) ~ ', cast(' ~ value ~ ' as ' ~ type ~ ') as ' ~ column
        ~ ' from ' ~ relation ~ ' as written where ' ~ condition
    ) %}
    {# On Spark the macro deletes by itself and leaves no statement. #}
    {% set deletion = delete_rows(relation, condition) | trim %}
    {% if deletion %}
        {% do run_query(deletion) %}
    {% endif %}
    {% do run_query('insert into ' ~ relation ~ ' by name select * from ' ~ changed) %}
    {% do adapter.drop_relation(changed) %}
{% endmacro %}
