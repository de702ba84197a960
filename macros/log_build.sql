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
