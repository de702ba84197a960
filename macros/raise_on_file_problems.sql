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
