{# Moves a table to another schema: it is copied, its rows are counted, and only then the first one is dropped. #}
{% macro move_table(relation, to) %}
    {% do adapter.create_schema(to) %}
    {% do adapter.dispatch('copy_table', 'hcat')(relation, to) %}
    {% set counts = run_query(
        'select (select count(*) from ' ~ relation ~ '), (select count(*) from ' ~ to ~ ')'
    ).rows[0] %}
    {% if counts[0] != counts[1] %}
        {% do exceptions.raise_compiler_error(
            relation ~ ' has ' ~ counts[0] ~ ' rows and its copy ' ~ counts[1] ~ ': nothing was dropped'
        ) %}
    {% endif %}
    {% do adapter.drop_relation(relation) %}
{% endmacro %}

{% macro default__copy_table(relation, to) %}
    {% do run_query('create table ' ~ to ~ ' as select * from ' ~ relation) %}
{% endmacro %}

{# With the constraints of the first table, which a query would lose. #}
{% macro duckdb__copy_table(relation, to) %}
    {% set made = run_query(
        "select sql from duckdb_tables() where schema_name = '" ~ relation.schema ~ "' and table_name = '"
        ~ relation.identifier ~ "' and database_name = '" ~ relation.database ~ "'"
    ).rows[0][0] %}
    {% do run_query('create table ' ~ to ~ made[made.index('('):]) %}
    {% do run_query('insert into ' ~ to ~ ' by name select * from ' ~ relation) %}
{% endmacro %}
