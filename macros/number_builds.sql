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
