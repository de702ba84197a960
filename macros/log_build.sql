{#
    Notes in the table hcat_builds that a build started or ended, so that a build that was killed can be told from one
    that finished. The table is append-only and stands outside of the models, because a killed build runs no model.
#}
{% macro log_build(event) %}
    {% if is_building_hcat() and flags.WHICH in ('build', 'run') %}
        {% set ledger = graph.nodes['model.hcat.dim_runs'] %}
        {% set builds = api.Relation.create(
            database=ledger.database, schema=ledger.schema, identifier='hcat_builds'
        ) %}
        {% do adapter.create_schema(builds) %}
        {% do run_query(
            'create table if not exists ' ~ builds ~ ' (run_id ' ~ dbt.type_string() ~ ', event ' ~ dbt.type_string()
            ~ ', logged_at timestamp)'
        ) %}
        {% do run_query(
            'insert into ' ~ builds ~ " values ('" ~ invocation_id ~ "', '" ~ event ~ "', timestamp '"
            ~ modules.datetime.datetime.now(modules.pytz.utc).strftime('%Y-%m-%d %H:%M:%S') ~ "')"
        ) %}
    {% endif %}
{% endmacro %}
