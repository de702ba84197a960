-- One row per document that an accepted trace used, in order: those of rerankers if there are any, else of retrievers.
with span_values as (
    select * from {{ ref('base_span_values') }}
),

spans as (
    select * from {{ ref('base_spans') }}
),


interactions as (
    select * from {{ ref('base_folded_interactions') }}
    where read_error is null
),

chosen as (
    select
        span_values.*,
        row_number() over (
            partition by span_values.record_id, span_values.field, span_values.position
            order by span_values.priority
        ) as place
    from span_values
    where
        span_values.field in (
            'document_text', 'document_id', 'document_score', 'document_source', 'document_title', 'tool_output'
        )
),

logged as (
    select
        record_id,
        trace_id,
        role,
        position,
        max(case when field = 'document_id' then nullif(trim(value), '') end) as chunk_id,
        max(case when field in ('document_text', 'tool_output') then value end) as text,
        max(case when field = 'document_score' then value end) as retrieval_score,
        max(case when field = 'document_source' then value end) as document_id,
        max(case when field = 'document_title' then value end) as title
    from chosen
    where place = 1
    group by record_id, trace_id, role, position
),

located as (
    select
        logged.*,
        spans.source_file,
        spans.span_id,
        spans.parent_span_id,
        spans.started_at,
        spans.source_row,
        spans.landing_number
    from logged
    inner join spans on logged.record_id = spans.record_id
    where logged.chunk_id is not null or logged.text is not null
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
