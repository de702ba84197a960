-- One row per (interaction, metric) with the human label and the score. Every label serves every method. What a method
-- is worth is cross-validated over whole clusters. This is a table, because eight models read it.
{{ config(materialized='table') }}

with labels as (
    select * from {{ ref('hcat', 'int_ratings_adjudicated') }}
),

targets as (
    select * from {{ seed('calibration_targets') }}
),

scales as (
    select criterion, count(*) as count_scale_points
    from {{ seed('rating_scales') }}
    group by criterion
),

evaluations as (
    select * from {{ ref('hcat', 'int_evaluations_completed') }}
    where raw_score is not null
),

interactions as (
    select interaction_id, cluster_id, system from {{ ref('hcat', 'int_interactions_joined') }}
),

strata as (
    select * from {{ ref('hcat', 'int_interaction_strata') }}
),

final as (
    select
        labels.interaction_id,
        targets.metric_name,
        labels.criterion,
        interactions.cluster_id,
        interactions.system,
        strata.stratum,
        strata.segment,
        labels.rule,
        labels.guideline_version,
        labels.label,
        labels.scale_point,
        targets.accept_from,
        scales.count_scale_points,
        evaluations.raw_score,
        labels.inclusion_probability,
        labels.is_audit,
        labels.rated_at,
        coalesce(left(labels.rated_at::date::string, 7), 'unknown') as rated_month
    from labels
    inner join targets on labels.criterion = targets.criterion
    inner join scales on labels.criterion = scales.criterion
    inner join evaluations
        on labels.interaction_id = evaluations.interaction_id and targets.metric_name = evaluations.metric_name
    inner join interactions on labels.interaction_id = interactions.interaction_id
    inner join strata on labels.interaction_id = strata.interaction_id
    where labels.label is not null
)

select * from final
