{#
    The records of an entity: those of its own files, and those folded from spans, where that module is on. Spans give
    some of the columns; the others are null.
#}
{% macro landed_and_folded(entity, columns, folded) -%}
select
    record_id, source_file, {{ columns | join(', ') }},
    record_hash, read_error, unread_record, read_note, source_row, landing_number
from {{ ref('hcat', 'landed_records') }}
where entity = '{{ entity }}'
union all
select
    record_id, source_file,
    {% for column in columns %}{{ column if column in folded else 'null as ' ~ column }}, {% endfor -%}
    record_hash, read_error, null as unread_record, null as read_note, source_row, landing_number
from {{ ref_if_on(
    'spans', 'base_folded_' ~ entity,
    'record_id string, source_file string, record_hash string, read_error string, source_row bigint,'
    ~ ' landing_number bigint, ' ~ folded | join(' string, ') ~ ' string'
) }}
{%- endmacro %}
