-- One row per document that an accepted trace used, in order: those of rerankers if there are any, else of retrievers.
{{ config(materialized='table') }}
with span_values as (
    select * from {{ ref('hcat', 'base_span_values') }}
),

spans as (
    select * from {{ ref('hcat', 'base_spans') }}
),


interactions as (
    select * from {{ ref('hcat', 'base_folded_interactions') }}
    where read_error is null
),

logged as (
    select
        record_id,
        trace_id,
        role,
        position,
        {%- for field in ['document_id', 'document_text', 'document_score', 'document_source', 'document_title'] %}
        min_by(value, priority) filter (where field = '{{ field }}') as {{ field }},
        {%- endfor %}
        min_by(value, priority) filter (where field = 'tool_output') as tool_output
    from span_values
    where field like 'document%' or field = 'tool_output'
    group by record_id, trace_id, role, position
),

named as (
    select
        record_id,
        trace_id,
        role,
        position,
        nullif(trim(document_id), '') as chunk_id,
        coalesce(document_text, tool_output) as text,
        document_score as retrieval_score,
        document_source as document_id,
        document_title as title
    from logged
),

located as (
    select
        named.*,
        spans.source_file,
        spans.span_id,
        spans.parent_span_id,
        spans.started_at,
        spans.source_row,
        spans.landing_number
    from named
    inner join spans on named.record_id = spans.record_id
    where named.chunk_id is not null or named.text is not null
),

retrieving as (
    select distinct
        trace_id,
        span_id
    from located
    where role = 'retriever'
),

ranked as (
    select
        located.*,
        interactions.interaction_id,
        max(case when located.role = 'reranker' then 1 else 0 end) over (partition by located.trace_id) as is_reranked,
        -- a retriever around another one hands on what the inner one found
        retrieving.span_id is not null as is_inner
    from located
    inner join interactions on located.trace_id = interactions.trace_id
    left join retrieving
        on located.trace_id = retrieving.trace_id and located.parent_span_id = retrieving.span_id
),

used as (
    select
        *,
        case when role = 'tool' then 1 else 0 end as is_tool
    from ranked
    where role in ('tool', 'reranker') or (is_reranked = 0 and not is_inner)
),

distinct_documents as (
    select
        *,
        row_number() over (
            partition by trace_id, is_tool, chunk_id, text
            order by started_at asc nulls last, span_id asc, position asc
        ) as occurrence
    from used
),

final as (
    select
        record_id,
        source_file,
        trace_id,
        interaction_id,
        chunk_id,
        document_id,
        text,
        retrieval_score,
        title,
        row_number() over (
            partition by trace_id
            order by is_tool asc, started_at asc nulls last, span_id asc, position asc
        ) as rank,
        source_row,
        landing_number
    from distinct_documents
    where occurrence = 1
)

select * from final
