{{ config(enabled=is_on('calibration')) }}
-- Every system has a row, and so has each of its segments that somebody can decide by, with all of its labels.
with evaluations as (
    select * from {{ ref('hcat', 'int_target_evaluations') }}
),

segments as (
    select * from {{ ref('hcat', 'int_interaction_segments') }}
),

decided as (
    select distinct metric_name from {{ ref('hcat', 'int_threshold_decisions') }}
    where threshold is not null
),

by_segment as (
    select
        evaluations.metric_name,
        evaluations.system,
        segments.dimension,
        segments.segment,
        count(*) as count_interactions,
        count(evaluations.raw_score) as count_scored,
        count(case when evaluations.raw_score is not null then evaluations.label end) as count_labels,
        count(distinct case
            when evaluations.raw_score is not null and evaluations.label is not null then evaluations.cluster_id
        end) as count_clusters
    from evaluations
    inner join segments on evaluations.interaction_id = segments.interaction_id
    group by evaluations.metric_name, evaluations.system, segments.dimension, segments.segment
),

expected as (
    select by_segment.*
    from by_segment
    left join decided on by_segment.metric_name = decided.metric_name
    where
        by_segment.dimension = 'all'
        or (decided.metric_name is not null and by_segment.count_clusters >= {{ var('hcat_minimum_segment_clusters') }})
),

found as (
    select metric_name, system, dimension, segment, count_interactions, count_scored, count_labels, count_clusters
    from {{ ref('hcat', 'fct_failure_rates') }}
),

missing as (
    select * from expected
    except
    select * from found
),

unexpected as (
    select * from found
    except
    select * from expected
)

select *, 'missing' as problem from missing
union all
select *, 'not expected' as problem from unexpected
