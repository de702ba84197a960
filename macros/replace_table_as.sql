{# The code that puts the rows of a model in the place of a table, in its language; dbt runs `materialize` of Python. #}
{% macro replace_table_as(relation, compiled_code, language) %}
    {%- if language == 'python' %}
{{ compiled_code }}

def materialize(df, con):
    con.register('rows_of_the_model', df)
    con.execute('create or replace table {{ relation }} as select * from rows_of_the_model')
    con.unregister('rows_of_the_model')
    {%- elif config.get('contract').enforced %}
        {{ get_assert_columns_equivalent(compiled_code) }}
        create or replace table {{ relation }} {{ get_table_columns_and_constraints() }};
        insert into {{ relation }} {{ get_column_names() }} ({{ get_select_subquery(compiled_code) }})
    {%- else %}
        create or replace table {{ relation }} as ({{ compiled_code }}
        )
    {%- endif %}
{% endmacro %}
