{#
    A hook. It makes the tables that `hcat forget` and `hcat prune` write, empty, beside the models: no build and no full
    refresh changes them. hcat_deletions has one row per deleted id: id_kind (interaction, trace of spans, query, or record
    of a file), its SHA-256 and the number of the deletion; landing reads it. hcat_deletion_log has one row per deletion.
#}
{% macro make_deletion_tables() %}
    {% if is_building_hcat() and target.type == 'duckdb' and flags.WHICH in ('build', 'run') %}
        {% set ledger = graph.nodes['model.hcat.dim_runs'] %}
        {% for name, columns in {
            'hcat_deletions': {'id_kind': 'string', 'hashed_id': 'string', 'deletion_number': 'bigint'},
            'hcat_deletion_log': columns_of_deletions()
        }.items() %}
            {% set made = api.Relation.create(database=ledger.database, schema=ledger.schema, identifier=name) %}
            {% do adapter.create_schema(made) %}
            {% set listed = [] %}
            {% for column, type in columns.items() %}
                {% do listed.append(column ~ ' ' ~ type) %}
            {% endfor %}
            {% do run_query('create table if not exists ' ~ made ~ ' (' ~ listed | join(', ') ~ ')') %}
        {% endfor %}
    {% endif %}
{% endmacro %}
