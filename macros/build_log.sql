{#
    Notes in the table hcat_builds that a build started or ended, so that a build that was killed can be told from one
    that finished. The table is append-only and stands outside of the models, because a killed build runs no model.
    A start takes the next build number. It says which build is the newest; no clock does.
#}
{% macro log_build(event) %}
    {% if is_writing_hcat() %}
        {% set builds = log_of_builds() %}
        {# before the schema is made, which commits: a look at columns leaves a transaction open that dbt rolls back #}
        {% set number = find_last_build_number(builds) + 1 if event == 'started' else find_build_number() %}
        {% do adapter.create_schema(builds) %}
        {% do run_query(
            'create table if not exists ' ~ builds ~ ' (run_id ' ~ dbt.type_string() ~ ', event ' ~ dbt.type_string()
            ~ ', logged_at timestamp, build_number bigint)'
        ) %}
        {% do run_query(
            'insert into ' ~ builds ~ " values ('" ~ invocation_id ~ "', '" ~ event ~ "', timestamp '"
            ~ modules.datetime.datetime.now(modules.pytz.utc).strftime('%Y-%m-%d %H:%M:%S') ~ "', " ~ number ~ ')'
        ) %}
    {% endif %}
{% endmacro %}

{# The relation of hcat_builds, beside the ledger. It need not exist. #}
{% macro log_of_builds() %}
    {% set ledger = graph.nodes['model.hcat.dim_runs'] %}
    {{ return(api.Relation.create(database=ledger.database, schema=ledger.schema, identifier='hcat_builds')) }}
{% endmacro %}

{# The largest number of any history: one that an upgrade numbered may be older than hcat_builds. 0 without a build. #}
{% macro find_last_build_number(builds) %}
    {% set numbers = ['select 0 as build_number'] %}
    {% for name in warehouse_changes().numbered %}
        {% set found = adapter.get_relation(builds.database, builds.schema, name) %}
        {% if found is not none and has_column(found, 'build_number') %}
            {% do numbers.append('select max(build_number) as build_number from ' ~ found) %}
        {% endif %}
    {% endfor %}
    {{ return(run_query(
        'select max(build_number) from (' ~ numbers | join(' union all ') ~ ') as numbers'
    ).rows[0][0] | int) }}
{% endmacro %}

{# The number of this build. #}
{% macro find_build_number() %}
    {% set number = run_query(
        'select max(build_number) from ' ~ log_of_builds() ~ " where run_id = '" ~ invocation_id ~ "'"
    ).rows[0][0] %}
    {% if number is none %}
        {% do exceptions.raise_compiler_error(clean_line(
            'hcat_builds does not know this build: run it again with its hooks'
        )) %}
    {% endif %}
    {{ return(number | int) }}
{% endmacro %}

{#
    Numbers the rows of a history by builds: those of hcat_deletion_log by the last build before each deletion. `numbered`
    are the histories that say which builds there were, as {relation, time}; some have numbers already where an earlier
    run was killed, and the order is the same.
#}
{% macro number_builds(relation, numbered) %}
    {% set column = 'after_build_number' if relation.identifier == 'hcat_deletion_log' else 'build_number' %}
    {% set sightings = [] %}
    {% for each in numbered %}
        {% do sightings.append('select run_id, ' ~ each.time ~ ' as seen_at from ' ~ each.relation) %}
    {% endfor %}
    {% set builds %}
        select run_id, first_at, row_number() over (order by first_at asc, run_id asc) as number
        from (
            select run_id, min(seen_at) as first_at from ({{ sightings | join(' union all ') }}) as sightings group by run_id
        ) as firsts
    {% endset %}
    {% set of_row = 'builds.run_id = written.run_id' %}
    {% if column == 'after_build_number' %}
        {% set of_row = 'builds.first_at <= written.deleted_at' %}
    {% endif %}
    {% do set_column(
        relation, column, 'bigint',
        '(select coalesce(max(builds.number), 0) from (' ~ builds ~ ') as builds where ' ~ of_row ~ ')'
    ) %}
{% endmacro %}

{# The number of this build as an expression: a later build has a larger one. Null outside of builds. #}
{% macro build_number() -%}
    {{ find_build_number() if is_writing_hcat() else 'null' }}::bigint
{%- endmacro %}

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

{# Whether a relation is the ledger of hcat's builds; a table of the project may have its name. #}
{% macro is_ledger(relation) %}
    {% set found = adapter.get_relation(relation.database, relation.schema, relation.identifier) %}
    {{ return(found is not none and has_column(found, 'settings_hash')) }}
{% endmacro %}
