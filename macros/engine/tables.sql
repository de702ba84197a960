{# All columns but the named ones. #}
{% macro columns_except(names) -%}
    {{ return(adapter.dispatch('columns_except', 'hcat')(names)) }}
{%- endmacro %}

{% macro default__columns_except(names) -%}
    * exclude ({{ names | join(', ') }})
{%- endmacro %}

{% macro spark__columns_except(names) -%}
    * except ({{ names | join(', ') }})
{%- endmacro %}

{#
    The columns of a mart, as its contract in YAML names them: each by its name, or by the expression given for it. With
    several relations `of` is the one whose columns need no expression. Where no contract is known (dbt reads the file,
    or runs a unit test on it) all columns of that relation stand beside the expressions.
#}
{% macro columns_of_contract(expressions={}, of=none) -%}
    {%- set prefix = of ~ '.' if of else '' -%}
    {%- set columns = model.columns.keys() | list if execute and model.columns is defined else [] -%}
    {%- set listed = [] -%}
    {%- for name in columns or expressions -%}
        {%- do listed.append(expressions[name] ~ ' as ' ~ name if name in expressions else prefix ~ name) -%}
    {%- endfor -%}
    {{ (listed if columns else listed + [prefix ~ '*']) | join(', ') }}
{%- endmacro %}

{#
    Drops columns of a table that keeps its rows. The table is written anew: Parquet cannot drop a column, and DuckDB
    would keep a check that calls a function, with which it cannot replay its log (decision 49).
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

{# A hook that stops the build with the message, cleaned, when the condition holds for a row of the query `source`. #}
{% macro raise_when(condition, message, source) -%}
    {% if execute %}
        {% for row in run_query('select ' ~ message ~ ' from ' ~ source ~ ' where ' ~ condition).rows %}
            {% do exceptions.raise_compiler_error(clean_line(row[0])) %}
        {% endfor %}
    {% endif %}
{%- endmacro %}

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
