{{ config(enabled=is_on('calibration')) }}
-- Every system and each of its segments has a row, and the parts of a system add up to its labels.
with evaluations as (
    select * from {{ ref('hcat', 'int_target_evaluations') }}
),

segments as (
    select * from {{ ref('hcat', 'int_interaction_segments') }}
),

by_segment as (
    select
        evaluations.metric_name,
        evaluations.system,
        segments.dimension,
        segments.segment,
        count(*) as count_interactions,
        count(evaluations.raw_score) as count_scored,
        count(evaluations.label) as count_labels
    from evaluations
    inner join segments on evaluations.interaction_id = segments.interaction_id
    group by evaluations.metric_name, evaluations.system, segments.dimension, segments.segment
),

expected as (
    select
        metric_name,
        system,
        dimension,
        count(*) as count_segments,
        sum(count_interactions) as count_interactions,
        sum(count_scored) as count_scored,
        sum(count_labels) as count_labels
    from by_segment
    group by metric_name, system, dimension
),

both_marts as (
    select * from {{ ref('hcat', 'fct_failure_rates') }}
    union all
    select * from {{ ref('hcat', 'fct_failure_rates_appendix') }}
),

found as (
    select
        metric_name,
        system,
        dimension,
        count(*) as count_segments,
        sum(count_interactions) as count_interactions,
        sum(count_scored) as count_scored,
        sum(count_labels) as count_labels
    from both_marts
    group by metric_name, system, dimension
)

select expected.*, found.count_labels as count_labels_in_mart
from expected
full outer join found
    on
        expected.metric_name = found.metric_name
        and expected.system = found.system
        and expected.dimension = found.dimension
where
    expected.count_segments is distinct from found.count_segments
    or expected.count_interactions is distinct from found.count_interactions
    or expected.count_scored is distinct from found.count_scored
    or expected.count_labels is distinct from found.count_labels
