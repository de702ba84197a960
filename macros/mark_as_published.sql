{# A hook behind publication. Only now the ledger says of this build that it passes, if its gates do. #}
{% macro mark_as_published() %}
    {% if execute %}
        {% set ledger = graph.nodes['model.hcat.dim_runs'] %}
        {% do set_column(
            adapter.get_relation(ledger.database, ledger.schema, ledger.alias),
            'is_passing',
            'boolean',
            'count_gates > 0 and count_error_gates_not_passing = 0',
            "run_id = '" ~ invocation_id ~ "'"
        ) %}
    {% endif %}
{% endmacro %}
