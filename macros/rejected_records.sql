{# The body of every stg_*__rejected model: the origin of a record, why it cannot be used, and the start of its text. #}
{% macro rejected_records(base_model, shown_columns) %}
select
    record_id,
    source_file,
    reject_reason,
    left(
        coalesce(unread_record, concat_ws(' | '{% for column in shown_columns %}, {{ column }}{% endfor %})),
        {{ var('hcat_rejected_excerpt_characters') }}
    ) as record_excerpt,
    source_row,
    landing_number
from {{ ref('hcat', base_model) }}
where record_status = 'rejected'
{% endmacro %}
