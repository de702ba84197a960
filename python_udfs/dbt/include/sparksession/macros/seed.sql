{#
    dbt-spark's session cursor puts a text binding between quotes as it is and binds NULL as 'None': literals are written
    here instead. Line breaks and tabs are left as they are; Spark takes them inside of a literal.
    A backslash escapes there, or does not, by a setting: it is no part of a literal.
#}
{% macro sparksession__load_csv_rows(model, agate_table) %}
    {% set column_override = model['config'].get('column_types', {}) %}
    {% for chunk in agate_table.rows | batch(get_batch_size()) %}
        {% set sql %}
            insert into {{ this.render() }} values
            {% for row in chunk -%}
                ({%- for column_name in agate_table.column_names -%}
                    {%- set type = column_override.get(column_name, adapter.convert_type(agate_table, loop.index0)) -%}
                    {%- set value = row[loop.index0] -%}
                    cast({% if value is none %}null{% else %}'{{ value | string | replace("'", "''") | replace('\\', "' || chr(92) || '") }}'{% endif %} as {{ type }})
                    {%- if not loop.last %}, {% endif -%}
                {%- endfor -%}){% if not loop.last %},{% endif %}
            {% endfor %}
        {% endset %}
        {% do adapter.add_query(sql, abridge_sql_log=True) %}
    {% endfor %}
{% endmacro %}

{# dbt-spark's own, after the types of other warehouses are translated. #}
{% macro sparksession__create_csv_table(model, agate_table) %}
    {% set types = model['config'].get('column_types', {}) %}
    {% for name in types %}{% do types.update({name: api.Column.translate_type(types[name])}) %}{% endfor %}
    {{ return(spark__create_csv_table(model, agate_table)) }}
{% endmacro %}

{# Of the empty query that a contract is compared with. #}
{% macro sparksession__cast(field, type) %}
    cast({{ field }} as {{ api.Column.translate_type(type) }})
{%- endmacro %}
