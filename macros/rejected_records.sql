{#
    The body of every stg_*__rejected model: a row per record that cannot be used (kind `record`), and a row per optional
    field or value that could not be read of a record that is kept without it (kind `field`).
#}
{% macro rejected_records(base_model, shown_columns) %}
{%- set origin %}
    record_id,
    source_file,
    left(
        coalesce(unread_record, concat_ws(' | '{% for column in shown_columns %}, {{ column }}{% endfor %})),
        {{ var('hcat_rejected_excerpt_characters') }}
    ) as record_excerpt,
    source_row,
    landing_number
{%- endset %}
with records as (
    select * from {{ ref('hcat', base_model) }}
),

fields as (
    select
        {{ origin | indent(4) }},
        {{ explode('field_faults') }} as field_fault
    from records
    where record_status = 'staged'
    union all
    select
        {{ origin | indent(4) }},
        read_note as field_fault
    from records
    where record_status = 'staged' and read_note is not null
)

select
    record_id,
    source_file,
    'record' as kind,
    reject_reason,
    record_excerpt,
    source_row,
    landing_number
from (
    select
        {{ origin | indent(4) }},
        reject_reason
    from records
    where record_status = 'rejected'
) as rejected
union all
select
    record_id,
    source_file,
    'field' as kind,
    field_fault as reject_reason,
    record_excerpt,
    source_row,
    landing_number
from fields
{% endmacro %}
