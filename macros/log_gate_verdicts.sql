{# One line per gate that does not pass, where the person who ran the build reads it. #}
{% macro log_gate_verdicts(results) %}
    {% if execute and flags.WHICH in ('build', 'run', 'test') %}
        {% set ran = results | map(attribute='node') | map(attribute='name') | list %}
        {% set node = graph.nodes.values() | selectattr('name', 'equalto', 'fct_threshold_gates') | first %}
        {% if node and 'fct_threshold_gates' in ran %}
            {% set gates = adapter.get_relation(node.database, node.schema, node.alias) %}
            {% if gates is not none %}
                {% set rows = run_query(
                    "select severity, gate_name, verdict, reason from " ~ gates
                    ~ " where run_id = '" ~ invocation_id ~ "' and not is_passing order by severity, gate_name"
                ) %}
                {% for row in rows %}
                    {# print and not log: --quiet must not hide it #}
                    {% do print('GATE ' ~ row[2] | upper ~ ' (' ~ row[0] ~ ') ' ~ row[1] ~ ': ' ~ row[3]) %}
                {% endfor %}
            {% endif %}
        {% endif %}
    {% endif %}
{% endmacro %}
