{# Drops the temporary tables that incremental Python models leave behind in the warehouse. #}
{% macro drop_leftover_temporary_tables() %}
    {% if is_building_hcat() and target.type == 'duckdb' %}
        {% set leftovers = run_query(
            "select table_schema, table_name from information_schema.tables where table_name like '%\\_\\_dbt\\_tmp%' escape '\\'"
        ) %}
        {% for row in leftovers %}
            {% do run_query('drop table if exists ' ~ adapter.quote(row[0]) ~ '.' ~ adapter.quote(row[1])) %}
        {% endfor %}
    {% endif %}
{% endmacro %}
