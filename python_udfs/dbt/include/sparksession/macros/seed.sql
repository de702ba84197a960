{#
    dbt-spark's session cursor puts a text binding between quotes as it is and binds NULL as 'None': literals are written
    here instead. Line breaks and tabs are left as they are; Spark takes them inside of a literal.
#}
{% macro sparksession__load_csv_rows(model, agate_table) %}
    {% set column_override = model['config'].get('column_types', {}) %}
    {% set statements = [] %}
    {% for chunk in agate_table.rows | batch(get_batch_size()) %}
        {% set sql %}
            insert into {{ this.render() }} values
            {% for row in chunk -%}
                ({%- for column_name in agate_table.column_names -%}
                    {%- set type = api.Column.translate_type(
                        column_override.get(column_name, adapter.convert_type(agate_table, loop.index0))
                    ) -%}
                    {%- set value = row[loop.index0] -%}
                    cast({% if value is none %}null{% else %}'{{ value | string | replace('\\', '\\\\') | replace("'", "\\'") }}'{% endif %} as {{ type }})
                    {%- if not loop.last %}, {% endif -%}
                {%- endfor -%}){% if not loop.last %},{% endif %}
            {% endfor %}
        {% endset %}
        {% do adapter.add_query(sql, abridge_sql_log=True) %}
        {% do statements.append(sql) %}
    {% endfor %}
    {{ return(statements[0] if statements else '') }}
{% endmacro %}

{# dbt-spark's own, with the types of other warehouses translated. #}
{% macro sparksession__create_csv_table(model, agate_table) %}
    {% set column_override = model['config'].get('column_types', {}) %}
    {% set sql %}
        create table {{ this.render() }} (
            {%- for column_name in agate_table.column_names -%}
                {%- set type = column_override.get(column_name, adapter.convert_type(agate_table, loop.index0)) -%}
                {{ adapter.quote(column_name) }} {{ api.Column.translate_type(type) }}{{ ', ' if not loop.last }}
            {%- endfor -%}
        )
        {{ file_format_clause() }}
        {{ location_clause() }}
    {% endset %}
    {% do run_query(sql) %}
    {{ return(sql) }}
{% endmacro %}

{# Of the empty query that a contract is compared with. #}
{% macro sparksession__cast(field, type) %}
    cast({{ field }} as {{ api.Column.translate_type(type) }})
{%- endmacro %}
