-- One row per dialect, field and key at which the field may stand, in order of priority from 0.
{%- set fields = [
    'interaction_id', 'query', 'answer', 'reference_answer', 'document_text', 'document_id', 'document_score',
    'document_source', 'document_title', 'tool_output', 'model', 'application', 'version', 'session', 'user',
    'annotation_name', 'annotation_source', 'annotation_value', 'annotator', 'annotation_time', 'kind'
] %}

with dialects as (
    select * from {{ seed('span_dialects') }}
),

written as (
    {%- for field in ['recognised_by'] + fields %}
    {%- set paths = all_matches(field if field == 'recognised_by' else field ~ '_paths', '([^|]+)') %}
    select
        dialect,
        '{{ field }}' as field,
        {{ explode_together({'written_path': paths, 'priority': number_series(array_length(paths))}) }}
    from dialects
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

final as (
    select
        dialect,
        field,
        split_part(split_part(written_path, '?', 1), '!', 1) as path,
        nullif(split_part(split_part(written_path, '?', -1), '=', 1), split_part(written_path, '?', 1)) as guard_path,
        nullif(split_part(split_part(written_path, '?', -1), '=', -1), split_part(written_path, '?', 1)) as guard_value,
        priority,
        contains(written_path, '!text') as is_text_alone
    from written
)

select * from final
