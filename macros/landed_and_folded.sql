{#
    The records of an entity: those of its own files, and those folded from spans. Spans give some of the columns; the
    others are null.
#}
{% macro landed_and_folded(entity, columns, folded) -%}
select
    record_id, source_file, {{ columns | join(', ') }},
    record_hash, read_error, unread_record, source_row, landing_number
from {{ ref('hcat', 'landed_' ~ entity) }}
{%- if is_on('spans') %}
union all
select
    record_id, source_file,
    {% for column in columns %}{{ column if column in folded else 'null as ' ~ column }}, {% endfor -%}
    record_hash, read_error, null as unread_record, source_row, landing_number
from {{ ref('hcat', 'base_folded_' ~ entity) }}
{%- endif %}
{%- endmacro %}
