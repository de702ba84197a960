{#
    A hook. It stops a build whose logs give no interaction before its first model. Landing stops it too, with the same
    line, after a hundred models that need no logs. Relations of the project are known only when they are built.
#}
{% macro raise_when_there_are_no_logs() %}
    {% set landing = graph.nodes.get('model.hcat.landed_interactions') if execute else none %}
    {% set named = var('hcat_raw_relations') %}
    {% if is_writing_hcat() and landing.unique_id in selected_resources
        and 'interactions' not in named and 'spans' not in named %}
        {% set folder = landing.config.meta.raw_logs %}
        {% if not folder %}
            {% do exceptions.raise_compiler_error(clean_line(
                'hcat raw logs: no logs are named: set HCAT_RAW_LOGS to a folder or hcat_raw_relations to tables'
                ~ ' (demo: HCAT_DEMO=1)'
            )) %}
        {% endif %}
        {#- Where the profile names the plugin of hcat, SQL has its function. -#}
        {% if target.type == 'duckdb' and run_query(
            "select 1 from duckdb_functions() where function_name = 'hcat_explain_no_logs'"
        ).rows %}
            {% set landed = load_relation(api.Relation.create(
                database=landing.database, schema=landing.schema, identifier=landing.alias
            )) %}
            {% set is_landed = not flags.FULL_REFRESH and landed is not none
                and run_query('select 1 from ' ~ landed ~ ' where source_row > 0 limit 1').rows | length > 0 %}
            {{ raise_when(
                "problem <> ''",
                "'hcat raw logs: ' || problem",
                "(select hcat_explain_no_logs('" ~ folder | replace("'", "''") ~ "', " ~ is_landed | lower
                ~ ') as problem) as problems'
            ) }}
        {% endif %}
    {% endif %}
{% endmacro %}
