{#
    Removes the rows of a landing that ended in a file problem. The table of a first build remains although the build
    fails, so a file that was read in part would otherwise count as landed.
#}
{% macro undo_failed_landing() %}
    {% if execute and load_relation(this) is not none %}
        {{ delete_rows(
            this, 'landing_number in (select landing_number from ' ~ this ~ ' where is_file_problem)'
        ) }}
    {% endif %}
{% endmacro %}
