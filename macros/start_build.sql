{#
    The hook before a build: it stops a build that cannot go well before a model touches the warehouse, makes the tables
    that no model makes, and notes the start. The hooks of a package run in every command of the project that has it, so
    each part asks whether this command builds hcat.
#}
{% macro start_build() %}
    {% do raise_when_names_are_shared() %}
    {% do raise_when_the_demo_is_mixed() %}
    {% do raise_when_modules_are_unknown() %}
    {% do raise_when_a_gate_is_switched_off() %}
    {% do raise_when_an_upgrade_is_due() %}
    {% do raise_when_there_are_no_logs() %}
    {% do raise_when_the_clock_is_behind() %}
    {% do make_deletion_tables() %}
    {% do log_build('started') %}
{% endmacro %}

{#
    Stops a build that dbt would wire wrongly. dbt looks for the model of a test in the project before it looks in the package, unless a flag says
    otherwise. A project with a model that has the name of one of hcat needs that flag.
#}
{% macro raise_when_names_are_shared() %}
    {% if is_building_hcat() and project_name != 'hcat' %}
        {% set shared = [] %}
        {% for node in graph.nodes.values() if node.package_name == 'hcat' %}
            {% for read in node.depends_on.nodes %}
                {% set name = read.split('.') | last %}
                {% if read.startswith('model.') and not read.startswith('model.hcat.')
                    and 'model.hcat.' ~ name in graph.nodes %}
                    {% do shared.append(name) %}
                {% endif %}
            {% endfor %}
        {% endfor %}
        {% if shared %}
            {% do exceptions.raise_compiler_error(clean_line(
                'hcat and your project both have ' ~ shared | unique | sort | join(', ')
                ~ ': add flags: {require_ref_searches_node_package_before_root: true} to dbt_project.yml'
            )) %}
        {% endif %}
    {% endif %}
{% endmacro %}

{# Stops a build that asks for the demo while the project names logs of its own. #}
{% macro raise_when_the_demo_is_mixed() %}
    {% set is_named = var('hcat_raw_logs') or var('hcat_raw_relations') %}
    {% if is_building_hcat() and env_var('HCAT_DEMO', '') == '1' and not env_var('HCAT_RAW_LOGS', '') and is_named %}
        {% do exceptions.raise_compiler_error(clean_line(
            'HCAT_DEMO=1 asks for the demo, and hcat_raw_logs or hcat_raw_relations name logs of your own: unset HCAT_DEMO'
            ~ ' (`make build HCAT_DEMO=0`)'
        )) %}
    {% endif %}
{% endmacro %}

{# Stops a build whose hcat_profile, hcat_modules or hcat_own_seeds says something that does not exist. #}
{% macro raise_when_modules_are_unknown() %}
    {% set known = hcat_modules() | sort %}
    {% if var('hcat_profile') not in ['minimal', 'standard', 'full'] %}
        {% do exceptions.raise_compiler_error(clean_line(
            "hcat_profile is '" ~ var('hcat_profile') ~ "': it must be minimal, standard or full"
        )) %}
    {% endif %}
    {% for module, is_wanted in var('hcat_modules').items() %}
        {% if module not in known %}
            {% do exceptions.raise_compiler_error(clean_line(
                "hcat_modules names '" ~ module ~ "', which is none of " ~ known | join(', ')
            )) %}
        {% elif is_wanted not in [true, false] %}
            {% do exceptions.raise_compiler_error(clean_line(
                "hcat_modules: " ~ module ~ " must be true or false, got '" ~ is_wanted ~ "'"
            )) %}
        {% endif %}
    {% endfor %}
    {# without this, what somebody decided in it would count no more, and nobody would notice #}
    {% for seed in var('hcat_own_seeds') if seed in warehouse_changes().removed %}
        {% do exceptions.raise_compiler_error(clean_line(
            "hcat_own_seeds names '" ~ seed ~ "', which hcat no longer reads: docs/upgrade.md says where its rows went"
        )) %}
    {% endfor %}
{% endmacro %}

{#
    Stops a build before it starts if a gate of the project asks for something that only a module which is
    switched off measures: a measurement, or a metric. Gates and metrics are read from the files of their seeds, because
    the seeds are loaded later. Shipped gates of such a module are left out without a word (int_gates_in_force).
#}
{% macro raise_when_a_gate_is_switched_off() %}
    {% set off = modules_off() %}
    {% if is_building_hcat() and off and flags.WHICH in ('build', 'run') %}
        {% set switched_off = {} %}
        {% for module in off %}
            {% for measurement in hcat_modules()[module].measurements %}
                {% do switched_off.update({measurement: module}) %}
            {% endfor %}
            {% for metric in rows_of_seed('metric_catalog', '') if metric[1] in hcat_modules()[module].families %}
                {% do switched_off.update({metric[0]: module}) %}
            {% endfor %}
        {% endfor %}
        {% for gate in rows_of_seed('threshold_gates', 'hcat/decisions/') %}
            {% for asked in gate if asked in switched_off %}
                {% do exceptions.raise_compiler_error(clean_line(
                    'the gate ' ~ gate[0] ~ ' asks for ' ~ asked ~ ', and its module ' ~ switched_off[asked]
                    ~ ' is switched off: remove the gate from threshold_gates, or switch the module on'
                )) %}
            {% endfor %}
        {% endfor %}
    {% endif %}
{% endmacro %}

{# Stops a build on the warehouse of an earlier version before a model touches it. #}
{% macro raise_when_an_upgrade_is_due() %}
    {% if is_building_hcat() %}
        {% set steps = upgrade_steps() %}
        {% if steps %}
            {% do exceptions.raise_compiler_error(clean_line(
                'the warehouse was made by hcat ' ~ version_of_warehouse() ~ ': run `hcat upgrade` before this build (`hcat upgrade'
                ~ ' --dry-run` says what it does)'
            )) %}
        {% endif %}
    {% endif %}
{% endmacro %}

{#
    Stops a build whose logs give no interaction before its first model. Landing stops it too, with the same
    line, after a hundred models that need no logs. Relations of the project are known only when they are built.
#}
{% macro raise_when_there_are_no_logs() %}
    {% set landing = graph.nodes.get('model.hcat.landed_records') if execute else none %}
    {% set named = var('hcat_raw_relations') %}
    {% if is_writing_hcat() and 'model.hcat.base_interactions' in selected_resources
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
                and run_query(
                    'select 1 from ' ~ landed ~ " where entity = 'interactions' and source_row > 0 limit 1"
                ).rows | length > 0 %}
            {{ raise_when(
                "problem <> ''",
                "'hcat raw logs: ' || problem",
                "(select hcat_explain_no_logs('" ~ folder | replace("'", "''") ~ "', " ~ is_landed | lower
                ~ ') as problem) as problems'
            ) }}
        {% endif %}
    {% endif %}
{% endmacro %}

{#
    Stops a build whose clock is behind the last event of the last build: its times would stand before those
    of an older build in every table that shows them.
#}
{% macro raise_when_the_clock_is_behind() %}
    {% if is_writing_hcat() and not var('hcat_clock_was_ahead') %}
        {# clocks of two machines differ; hcat.engine.warehouse.CLOCK_SKEW is the same #}
        {% set tolerated_seconds = 60 %}
        {% set builds = log_of_builds() %}
        {% set found = adapter.get_relation(builds.database, builds.schema, builds.identifier) %}
        {% if found is not none %}
            {% for row in run_query(
                'select logged_at from ' ~ found ~ ' order by build_number desc, logged_at desc limit 1'
            ).rows %}
                {% set last = modules.datetime.datetime.fromisoformat(row[0] | string) %}
                {% set now = modules.datetime.datetime.now(modules.pytz.utc).replace(tzinfo=none) %}
                {% if (last - now).total_seconds() > tolerated_seconds %}
                    {% do exceptions.raise_compiler_error(clean_line(
                        'the clock is behind the last build: it says ' ~ now.strftime('%Y-%m-%d %H:%M') ~ ' UTC, and that was logged at '
                        ~ last.strftime('%Y-%m-%d %H:%M') ~ " UTC; set the clock right, or, if it was wrong then, build once with --vars"
                        ~ " '{hcat_clock_was_ahead: true}'"
                    )) %}
                {% endif %}
            {% endfor %}
        {% endif %}
    {% endif %}
{% endmacro %}

{#
    Makes the tables that `hcat forget` and `hcat prune` write, empty, beside the models: no build and no full
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
