-- One row per trace as a record of interactions, or with the reason why it gives none.
{{ config(materialized='table') }}
{%- set fields = ['interaction_id', 'query', 'answer', 'model', 'application', 'version', 'session', 'user'] %}

with traces as (
    select * from {{ ref('hcat', 'base_traces') }}
),

span_values as (
    select * from {{ ref('hcat', 'base_span_values') }}
),

ranked as (
    select
        traces.trace_id,
        span_values.field,
        span_values.value,
        row_number() over (
            partition by traces.trace_id, span_values.field
            order by
                case when span_values.record_id = traces.record_id then 0 else 1 end,
                span_values.priority asc,
                span_values.started_at desc nulls last,
                span_values.span_id asc,
                span_values.position desc
        ) as place
    from traces
    inner join span_values on traces.trace_id = span_values.trace_id
    where
        span_values.field in ('{{ fields | join("', '") }}')
        -- what other spans of a trace say of themselves is neither query nor answer
        and (span_values.field not in ('query', 'answer') or span_values.record_id = traces.record_id)
),

folded as (
    select
        {%- for field in fields %}
        max(case when field = '{{ field }}' then value end) as found_{{ field }},
        {%- endfor %}
        trace_id
    from ranked
    where place = 1
    group by trace_id
),

-- Retrievers that did not fail. One without documents found nothing, if its dialect writes documents where they are
-- looked for: another trace has some, or a list of the span itself is empty.
retrievers as (
    select
        spans.trace_id,
        recognised.dialect,
        bool_or(contains(landed.attributes, '[]')) as has_empty_list
    from {{ ref('hcat', 'base_spans_recognised') }} as recognised
    inner join {{ ref('hcat', 'base_spans') }} as spans on recognised.record_id = spans.record_id
    inner join {{ ref('hcat', 'landed_records') }} as landed
        on recognised.record_id = landed.record_id and landed.entity = 'spans'
    where recognised.role = 'retriever' and not coalesce(spans.status = '2' or contains(spans.status, 'error'), false)
    group by spans.trace_id, recognised.dialect
),

documents as (
    select trace_id, count(*) as count_documents from span_values
    where field like 'document%' or field = 'tool_output'
    group by trace_id
),

dialects_with_documents as (
    select distinct retrievers.dialect
    from retrievers
    inner join documents on retrievers.trace_id = documents.trace_id
),

retrieved as (
    select retrievers.trace_id, 0 as count_retrieved
    from retrievers
    left join documents on retrievers.trace_id = documents.trace_id
    left join dialects_with_documents on retrievers.dialect = dialects_with_documents.dialect
    group by retrievers.trace_id
    having
        count(documents.trace_id) = 0
        and bool_and(retrievers.has_empty_list or dialects_with_documents.dialect is not null)
),

described as (
    select
        md5('interaction|' || traces.trace_id) as record_id,
        traces.source_file,
        traces.trace_id,
        traces.record_id as root_record_id,
        coalesce(folded.found_interaction_id, traces.trace_id) as interaction_id,
        case
            when folded.found_query is not null
                then 'query_' || left({{ hash_of_query('folded.found_query') }}, 16)
        end as query_id,
        folded.found_application as application,
        folded.found_version as application_version,
        folded.found_query as query_text,
        folded.found_answer as answer,
        nullif({{ json_of_texts({'model': 'folded.found_model', 'user': 'folded.found_user'}) }}, '{}') as tags,
        traces.started_at_text as asked_at,
        folded.found_session as conversation_id,
        '' || retrieved.count_retrieved as count_retrieved,
        case
            when traces.reject_reason is not null then traces.reject_reason
            when folded.found_answer is null and (traces.root_status = '2' or contains(traces.root_status, 'error'))
                then 'no answer: the root span ' || coalesce(traces.root_name, traces.root_span_id)
                || ' ended with an error'
            when folded.found_answer is null
                then 'no answer: the root span ' || coalesce(traces.root_name, traces.root_span_id)
                || ' has no text at the answer_paths of ' || traces.dialect || ' in the seed span_dialects'
            when folded.found_query is null
                then 'no query: the root span ' || coalesce(traces.root_name, traces.root_span_id)
                || ' has no text at the query_paths of ' || traces.dialect || ' in the seed span_dialects'
        end as read_error,
        traces.source_row,
        traces.landing_number
    from traces
    left join folded on traces.trace_id = folded.trace_id
    left join retrieved on traces.trace_id = retrieved.trace_id
),

final as (
    select
        *,
        md5(
            concat_ws(
                '|', interaction_id, query_text, answer, application, application_version, tags, asked_at,
                conversation_id
            )
        ) as record_hash
    from described
)

select * from final
