-- One row per annotation of an accepted trace by people, as a record of ratings, or with the reason why it is none.
{%- set fields = ['annotation_name', 'annotation_source', 'annotation_value', 'annotator', 'annotation_time'] %}

with span_values as (
    select * from {{ ref('hcat', 'base_span_values') }}
),

spans as (
    select * from {{ ref('hcat', 'base_spans') }}
),

recognised as (
    select * from {{ ref('hcat', 'base_spans_recognised') }}
),

dialects as (
    select * from {{ seed('span_dialects') }}
),

mapped as (
    select * from {{ seed('span_annotations') }}
),

interactions as (
    select * from {{ ref('hcat', 'base_folded_interactions') }}
    where read_error is null
),

chosen as (
    select
        *,
        row_number() over (partition by record_id, field, position order by priority) as place
    from span_values
    where field in ('{{ fields | join("', '") }}')
),

annotations as (
    select
        record_id,
        trace_id,
        position,
        max(case when field = 'annotation_name' then value end) as annotation_name,
        max(case when field = 'annotation_source' then lower(value) end) as annotation_source,
        max(case when field = 'annotation_value' then value end) as annotation_value,
        max(case when field = 'annotator' then value end) as annotator,
        max(case when field = 'annotation_time' then value end) as rated_at
    from chosen
    where place = 1
    group by record_id, trace_id, position
),

human as (
    select
        annotations.*,
        interactions.interaction_id,
        spans.source_file,
        spans.source_row,
        spans.landing_number
    from annotations
    inner join interactions on annotations.trace_id = interactions.trace_id
    inner join spans on annotations.record_id = spans.record_id
    inner join recognised on annotations.record_id = recognised.record_id
    inner join dialects on recognised.dialect = dialects.dialect
    where
        annotations.annotation_name is not null
        and annotations.annotation_value is not null
        and contains('|' || lower(dialects.human_sources) || '|', '|' || annotations.annotation_source || '|')
),

matched as (
    select
        human.*,
        mapped.criterion,
        coalesce('' || mapped.scale_point, human.annotation_value) as scale_point,
        row_number() over (
            partition by human.record_id, human.position order by mapped.annotation_value asc nulls last
        ) as place
    from human
    left join mapped
        on
            human.annotation_name = mapped.annotation_name
            and (
                mapped.annotation_value is null
                or human.annotation_value = mapped.annotation_value
                -- 1 and 1.0 are one number
                or try_cast(human.annotation_value as double) = try_cast(mapped.annotation_value as double)
            )
),

final as (
    select
        md5(concat_ws('|', 'rating', record_id, position)) as record_id,
        source_file,
        interaction_id,
        {{ named('annotator') }} as rater,
        -- annotations of models and programs are left out above
        'person' as rater_kind,
        criterion,
        scale_point,
        rated_at,
        md5(concat_ws('|', interaction_id, annotator, annotation_name, annotation_value, rated_at)) as record_hash,
        case
            when criterion is null
                then 'annotation without a criterion in the seed span_annotations: '
                || left(annotation_name || ' = ' || annotation_value, 80)
        end as read_error,
        source_row,
        landing_number
    from matched
    where place = 1
)

select * from final
