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
