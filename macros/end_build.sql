{# The hook behind a build: it cleans up, prints the gates that do not pass, and notes the end. #}
{% macro end_build(results) %}
    {% do drop_leftover_temporary_tables() %}
    {% do log_gate_verdicts(results) %}
    {% do log_build('ended') %}
{% endmacro %}

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

{# Prints one line per gate that does not pass, for the person who runs the build. #}
{% macro log_gate_verdicts(results) %}
    {% if is_building_hcat() and flags.WHICH in ('build', 'run', 'test') %}
        {% set ran = results | map(attribute='node') | map(attribute='name') | list %}
        {% set node = graph.nodes.get('model.hcat.fct_threshold_gates') %}
        {% if node and 'fct_threshold_gates' in ran %}
            {% set gates = adapter.get_relation(node.database, node.schema, node.alias) %}
            {% if gates is not none %}
                {% set rows = run_query(
                    "select severity, gate_name, verdict, reason from " ~ gates
                    ~ " where run_id = '" ~ invocation_id ~ "' and not is_passing order by severity, gate_name"
                ) %}
                {% for row in rows %}
                    {# Uses print, because --quiet hides log lines. #}
                    {% do say('GATE ' ~ row[2] | upper ~ ' (' ~ row[0] ~ ') ' ~ row[1] ~ ': ' ~ row[3]) %}
                {% endfor %}
            {% endif %}
        {% endif %}
    {% endif %}
{% endmacro %}
