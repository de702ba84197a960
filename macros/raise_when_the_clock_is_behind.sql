{#
    A hook. It stops a build whose clock is behind the last event of the last build: its times would stand before those
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
