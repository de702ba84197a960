{# The checksums that dbt keeps of the seeds (or models) of this project and its packages, by name. #}
{% macro checksums_of_files(resource_type) %}
    {% set checksums = {} %}
    {% if execute %}
        {% set nodes = graph.nodes.values() | selectattr('resource_type', 'equalto', resource_type) %}
        {% for node in nodes | sort(attribute='name') %}
            {% do checksums.update({node.name: node.checksum.checksum}) %}
        {% endfor %}
    {% endif %}
    {{ return(checksums) }}
{% endmacro %}

{#
    Removes what an earlier landing did not land: the rows of an entity from a landing that ended in a file problem of it,
    and those of files that were rejected (row 0). The table of a first build remains although the build fails, so a file
    that was read in part would otherwise count as landed. A rejected file is read again each time, and whole it is no
    reject any more.
#}
{% macro undo_failed_landing() %}
    {% if execute and load_relation(this) is not none %}
        {{ delete_rows(
            this,
            'source_row = 0 or concat(entity, landing_number) in (select concat(entity, landing_number) from ' ~ this
            ~ ' where is_file_problem)'
        ) }}
    {% endif %}
{% endmacro %}

{#
    Reports missing files and columns in one line, because a stack trace of the model would not explain them. Documents
    alone are enough for a build that needs no interactions.
#}
{% macro raise_on_file_problems() %}
{{ raise_when(
    'file_problems is not null',
    "'hcat raw logs: ' || file_problems",
    '(select ' ~ joined_text('read_error', "'; '", 'source_file') ~ ' as file_problems from ' ~ this
    ~ ' where is_file_problem'
    ~ ('' if 'model.hcat.base_interactions' in selected_resources else " and entity <> 'interactions'")
    ~ ') as problems'
) }}
{% endmacro %}

{#
    A hook of base_interactions. It stops the build when no interaction could be used, and says the most frequent reason
    in one line, because every later model and gate would only say that it has nothing to measure.
#}
{% macro raise_when_nothing_is_staged() %}
    {% set shown %}
        'hcat raw logs: no interaction could be used: ' || coalesce(
            cast(count_records as {{ dbt.type_string() }}) || ' of ' || cast(count_landed as {{ dbt.type_string() }})
            || ' records are rejected like those of ' || source_file || ': ' || reason
            || ' (`hcat check` shows the others)',
            'the files hold no record'
        )
    {% endset %}
{{ raise_when(
    'count_staged = 0',
    shown,
    '(select counted.count_staged, counted.count_landed, reasons.count_records, reasons.source_file, reasons.reason'
    ~ " from (select count(*) as count_landed, count(*) filter (where record_status = 'staged') as count_staged from "
    ~ this ~ ') as counted'
    ~ ' left join (select source_file, ' ~ reason_without_value('reject_reason') ~ ' as reason, count(*) as count_records'
    ~ ' from ' ~ this
    ~ " where record_status = 'rejected' group by source_file, reason"
    ~ ' order by count_records desc, source_file, reason limit 1) as reasons on true) as problems'
) }}
{% endmacro %}
