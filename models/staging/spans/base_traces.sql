-- One row per trace with its root: the span that gives query and answer, or the reason why there is none.
with spans as (
    select * from {{ ref('hcat', 'base_spans') }}
    where record_status = 'staged'
),

recognised as (
    select * from {{ ref('hcat', 'base_spans_recognised') }}
),

attributes as (
    select * from {{ ref('hcat', 'base_span_attributes') }}
),

described as (
    select
        spans.*,
        recognised.dialect,
        coalesce(recognised.role, 'other') as role,
        coalesce(recognised.kind, spans.kind, 'none') as shown_kind,
        coalesce(recognised.model_may_answer, false) as model_may_answer,
        parents.span_id is not null as has_parent
    from spans
    left join recognised on spans.record_id = recognised.record_id
    left join spans as parents on spans.trace_id = parents.trace_id and spans.parent_span_id = parents.span_id
),

ranked as (
    select
        *,
        case
            when role = 'chain' and parent_span_id is null then 'chain at the top'
            when role = 'chain' then 'chain below'
            when role = 'model' and model_may_answer then 'model'
            else 'no root'
        end as candidate
    from described
),

numbered as (
    select
        *,
        row_number() over (
            partition by trace_id
            order by
                case candidate when 'chain at the top' then 0 when 'chain below' then 1 else 2 end,
                case when candidate = 'no root' then 1 else 0 end,
                -- the first chain holds the others, and the last call of a model answers
                case when role = 'chain' then started_at end asc nulls last,
                case when role <> 'chain' then started_at end desc nulls last,
                ended_at desc nulls last,
                span_id asc
        ) as place
    from ranked
),

counted as (
    select
        trace_id,
        {{ ordered_array('shown_kind', 'shown_kind') }} as kinds,
        min(case when not has_parent then parent_span_id end) as missing_parent,
        count(*) as count_spans,
        bool_or(has_ended) as is_any_ended
    from numbered
    group by trace_id
),

final as (
    select
        numbered.record_id,
        numbered.source_file,
        numbered.trace_id,
        numbered.span_id as root_span_id,
        numbered.dialect,
        numbered.name as root_name,
        numbered.status as root_status,
        numbered.started_at_text,
        case
            when numbered.candidate = 'no root' and counted.missing_parent is not null
                then 'cut off: the trace has no span of a chain or agent, and the parent span '
                || counted.missing_parent || ' is missing'
            when numbered.candidate = 'no root'
                then 'no root: none of the ' || counted.count_spans
                || ' spans of the trace is a chain or agent, their kinds are '
                || {{ array_join('array_distinct(counted.kinds)', ', ') }}
            when
                numbered.candidate = 'chain below' and not numbered.has_parent
                and {{ "'" ~ one_of('hcat_missing_parents', ['cut_off', 'remote']) ~ "'" }} = 'cut_off'
                and remote.value is null
                then 'cut off: the parent span ' || numbered.parent_span_id || ' of '
                || coalesce(numbered.name, numbered.span_id) || ' is missing'
            when not numbered.has_ended and counted.is_any_ended
                then 'cut off: the root span ' || coalesce(numbered.name, numbered.span_id) || ' has not ended'
        end as reject_reason,
        numbered.source_row,
        numbered.landing_number
    from numbered
    inner join counted on numbered.trace_id = counted.trace_id
    left join attributes as remote
        on
            numbered.record_id = remote.record_id
            and remote.path = 'span.parent_is_remote'
            and remote.value = 'true'
    where numbered.place = 1
)

select * from final
