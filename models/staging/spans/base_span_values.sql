-- One row per value that a span gives to a field of its dialect and role, with its priority and its place in a list.
{{ config(materialized='table') }}
with attributes as (
    select * from {{ ref('hcat', 'base_span_attributes') }}
),

paths as (
    select * from {{ ref('hcat', 'base_span_paths') }}
),

recognised as (
    select * from {{ ref('hcat', 'base_spans_recognised') }}
),

spans as (
    select * from {{ ref('hcat', 'base_spans') }}
),

guarding as (
    select distinct guard_path from paths
),

guards as (
    select
        attributes.record_id,
        attributes.path,
        attributes.position,
        lower(attributes.value) as value
    from attributes
    inner join guarding on attributes.path = guarding.guard_path
),

found as (
    select
        spans.record_id,
        spans.trace_id,
        spans.span_id,
        recognised.role,
        paths.field,
        paths.guard_path,
        paths.guard_value,
        paths.priority,
        attributes.position,
        case
            when
                recognised.texts = 'json' and attributes.value like '"%"'
                and {{ is_json_object("'{\"text\":' || attributes.value || '}'") }}
                then {{ json_field("'{\"text\":' || attributes.value || '}'", "'text'") }}
            else attributes.value
        end as value,
        case
            when not paths.is_text_alone then true
            when left(ltrim(attributes.value), 1) not in ('{', '[') then true
            -- a list is JSON where an object around it is
            else not {{ is_json_object("'{\"text\":' || attributes.value || '}'") }}
        end as is_accepted,
        spans.started_at
    from attributes
    inner join recognised on attributes.record_id = recognised.record_id
    inner join paths on recognised.dialect = paths.dialect and attributes.path = paths.path
    inner join spans on attributes.record_id = spans.record_id
    where
        case
            when paths.field in ('recognised_by', 'kind') then false
            when paths.field in ('query', 'answer')
                then recognised.role = 'chain' or (recognised.role = 'model' and recognised.model_may_answer)
            when paths.field like 'document%' then recognised.role in ('retriever', 'reranker')
            when paths.field = 'tool_output'
                then recognised.role = 'tool' and {{ var('hcat_tool_outputs_are_evidence') | lower }}
            else true
        end
),

final as (
    select
        record_id,
        trace_id,
        span_id,
        role,
        field,
        value,
        position,
        priority,
        started_at
    from found
    where
        is_accepted
        and (
            guard_path is null
            or exists (
                select 1 from guards
                where
                    guards.record_id = found.record_id
                    and guards.path = found.guard_path
                    and guards.value = found.guard_value
                    and left(found.position, length(guards.position)) = guards.position
            )
        )
)

select * from final
