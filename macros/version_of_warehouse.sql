{# The version of hcat that made the last build of a warehouse, as its ledger has it. #}
{% macro version_of_warehouse() %}
    {% set ledger = graph.nodes['model.hcat.dim_runs'] %}
    {% for schema in [ledger.schema, target.schema] | unique %}
        {% set place = api.Relation.create(database=ledger.database, schema=schema, identifier=ledger.alias) %}
        {% if is_ledger(place) %}
            {# an earlier version knew its builds by their times alone #}
            {% set order = 'build_number' if has_column(place, 'build_number') else 'started_at' %}
            {% set versions = 'select code_version from ' ~ place ~ ' order by ' ~ order ~ ' desc limit 1' %}
            {% set last = run_query(versions).rows %}
            {{ return(last[0][0] if last else 'of another version') }}
        {% endif %}
    {% endfor %}
    {{ return('of another version') }}
{% endmacro %}
