{# The hook behind a build: it cleans up, prints rejected records and the gates that do not pass, and notes the end. #}
{% macro end_build(results) %}
    {% do drop_leftover_temporary_tables() %}
    {% do log_rejections(results) %}
    {% do log_gate_verdicts(results) %}
    {% do log_build('ended') %}
{% endmacro %}

{# Drops the temporary tables that incremental Python models leave behind in the warehouse. #}
{% macro drop_leftover_temporary_tables() %}
    {% if is_building_hcat() and target.type == 'duckdb' %}
        {% set leftovers = run_query(
            "select table_schema, table_name from information_schema.tables where table_name like '%\\_\\_dbt\\_tmp%' escape '\\'"
        ) %}
        {% for row in leftovers %}
            {% do run_query('drop table if exists ' ~ adapter.quote(row[0]) ~ '.' ~ adapter.quote(row[1])) %}
        {% endfor %}
    {% endif %}
{% endmacro %}

{# What a model made in this run; none where it was not built. #}
{% macro relation_of_run(results, name) %}
    {% if is_building_hcat() and name in results | map(attribute='node') | map(attribute='name') | list %}
        {% set node = graph.nodes['model.hcat.' ~ name] %}
        {{ return(adapter.get_relation(node.database, node.schema, node.alias)) }}
    {% endif %}
    {{ return(none) }}
{% endmacro %}

{#
    Prints one line per file and reason of rejected records, and of fields that could not be read of records that are
    kept; the most frequent first. Nobody has to mend what was deleted on request. Row 0 is the file as a whole.
#}
{% macro log_rejections(results) %}
    {% set rejected = relation_of_run(results, 'stg_rejected_records') %}
    {% if rejected is not none %}
        {# the reason of a whole file names columns and no values #}
        {% set named = reason_without_value('reject_reason') %}
        {% set reason = "case when source_row = 0 then reject_reason else " ~ named ~ " end" %}
        {% set rows = run_query(
            "select source_file, entity, kind, " ~ reason ~ " as reason, count(*), min(source_row) from " ~ rejected
            ~ " where reject_reason <> 'deleted on request' group by 1, 2, 3, 4 order by 5 desc, 1, 2, 3, 4"
        ).rows | list %}
        {% set maximum = 20 %}
        {% for file, entity, kind, reason, count, row in rows[:maximum] %}
            {% set counted = count ~ ' record' ~ ('' if count == 1 else 's') ~ ' of ' ~ entity | replace('_', ' ') %}
            {% set done = 'kept in part' if kind == 'field' else 'rejected' %}
            {% set place = ('row ' if count == 1 else 'first in row ') ~ row %}
            {% set line = file ~ ': ' ~ counted ~ ' ' ~ done ~ ': ' ~ reason ~ ' (' ~ place ~ ')' %}
            {% do say('hcat: ' ~ (line if row else 'file rejected: ' ~ reason)) %}
        {% endfor %}
        {% if rows | length > maximum %}
            {% do say('hcat: ' ~ (rows | length - maximum) ~ ' more reasons stand in stg_rejected_records') %}
        {% endif %}
    {% endif %}
{% endmacro %}

{# Prints one line per gate that does not pass, for the person who runs the build. #}
{% macro log_gate_verdicts(results) %}
    {% set gates = relation_of_run(results, 'fct_threshold_gates') %}
    {% if gates is not none %}
        {% set rows = run_query(
            "select severity, gate_name, verdict, reason from " ~ gates
            ~ " where run_id = '" ~ invocation_id ~ "' and not is_passing order by severity, gate_name"
        ) %}
        {% for row in rows %}
            {# Uses print, because --quiet hides log lines. #}
            {% do say('GATE ' ~ row[2] | upper ~ ' (' ~ row[0] ~ ') ' ~ row[1] ~ ': ' ~ row[3]) %}
        {% endfor %}
    {% endif %}
{% endmacro %}
