-- Every label serves every method. What a method is worth is cross-validated over whole clusters. This is a table,
-- because five models read it, one of them metric by metric.
{{ config(materialized='table', pre_hook="{{ raise_when_no_dimension('hcat_calibration_dimension', ['all']) }}") }}
with evaluations as (
    -- what a refusal gets is a rule and measures nothing
    select interaction_id, metric_name, if(score_status = 'refused', null, raw_score) as raw_score
    from {{ ref('hcat', 'int_evaluations_completed') }}
),

-- The stratum is that of the prediction sets. The segment may have a calibrator of its own.
strata as (
    select
        interaction_id,
        min(segment) filter (where dimension = 'system') as stratum,
        min(segment) filter (where dimension = '{{ var("hcat_calibration_dimension") }}') as segment
    from {{ ref('hcat', 'int_interaction_segments') }}
    where dimension in ('system', '{{ var("hcat_calibration_dimension") }}')
    group by interaction_id
),

labels as (
    select * from {{ ref('hcat', 'int_ratings_adjudicated') }}
    where label is not null
),

final as (
    select
        evaluations.interaction_id, evaluations.metric_name, targets.criterion, interactions.cluster_id,
        interactions.second_cluster_id, interactions.system, version_classes.version_class,
        -- An interaction without a segment goes to the cell that strata without a quantile of their own share.
        coalesce(strata.stratum, 'other') as stratum,
        coalesce(strata.segment, 'all') as segment,
        evaluations.raw_score, labels.label, labels.scale_point, labels.inclusion_probability, labels.is_audit,
        labels.rater_kind, labels.rater_code, labels.count_raters, labels.rated_at,
        coalesce(left(labels.rated_at::date::string, 7), 'unknown') as rated_month
    from evaluations
    inner join {{ seed('calibration_targets') }} as targets on evaluations.metric_name = targets.metric_name
    inner join {{ ref('hcat', 'int_interaction_attributes') }} as interactions
        on evaluations.interaction_id = interactions.interaction_id
    inner join {{ ref('hcat', 'int_interaction_version_classes') }} as version_classes
        on evaluations.interaction_id = version_classes.interaction_id
    left join strata on evaluations.interaction_id = strata.interaction_id
    left join labels on evaluations.interaction_id = labels.interaction_id and targets.criterion = labels.criterion
)

select * from final
