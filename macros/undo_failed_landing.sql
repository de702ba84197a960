{#
    Takes back the landing that ended in a file problem: the table of a first build stays in place although the build
    fails, and a file that was read in part would pass for landed.
#}
{% macro undo_failed_landing() %}
    {% if execute and load_relation(this) is not none %}
        {{ delete_rows(
            this, 'landing_number in (select landing_number from ' ~ this ~ ' where is_file_problem)'
        ) }}
    {% endif %}
{% endmacro %}
