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
