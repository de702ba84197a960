{{ config(materialized='table') }}
{#- What stands in the excerpt of a record, and its length. -#}
{%- set excerpt_characters = 500 -%}
{%- set shown = {
    'interactions': [
        'interaction_id', 'run_id', 'query_id', 'application', 'application_version', 'language', 'customer_group',
        'query_text', 'answer', 'tags_text', 'sample_index_text', 'asked_at_text', 'conversation_id', 'turn_index_text'
    ],
    'retrievals': ['interaction_id', 'chunk_id', 'text', 'rank_text', 'retrieval_score_text'],
    'queries': [
        'query_id', 'parent_query_id', 'cluster_id', 'query_group', 'query_text', 'reference_answer', 'query_type',
        'difficulty', 'answer_type', 'expected_behaviour', 'variant_type', 'source_chunk_ids_text',
        'sampling_weight_text', 'tags_text'
    ],
    'documents': ['document_id', 'title', 'topic', 'document_text'],
    'chunks': ['chunk_id', 'document_id', 'topic', 'chunk_text', 'chunk_index_text'],
    'ratings': ['interaction_id', 'rater', 'criterion', 'guideline_version', 'scale_point_text', 'rated_at_text'],
    'relevance_judgements': ['query_id', 'chunk_id', 'assessor', 'grade_text'],
    'spans': [
        'trace_id', 'span_id', 'parent_span_id', 'kind', 'name', 'started_at_text', 'ended_at_text', 'status'
    ]
} %}

with records as (
    {%- for entity in raw_entities() %}
    select
        record_id,
        '{{ entity }}' as entity,
        source_file,
        record_status,
        reject_reason,
        left(
            coalesce(unread_record, concat_ws(' | ', {{ shown[entity] | join(', ') }})),
            {{ excerpt_characters }}
        ) as record_excerpt,
        read_note,
        field_faults,
        source_row,
        landing_number
    from {{ ref('hcat', 'base_' ~ entity) }}
    where record_status = 'rejected' or read_note is not null or {{ array_length('field_faults') }} > 0
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

reasons as (
    select
        *,
        'record' as kind,
        reject_reason as reason
    from records
    where record_status = 'rejected'
    union all
    select
        *,
        'field' as kind,
        {{ explode('field_faults') }} as reason
    from records
    where record_status = 'staged'
    union all
    select
        *,
        'field' as kind,
        read_note as reason
    from records
    where record_status = 'staged' and read_note is not null
),

final as (
    select
        record_id,
        entity,
        source_file,
        kind,
        reason as reject_reason,
        record_excerpt,
        source_row,
        landing_number
    from reasons
)

select * from final
