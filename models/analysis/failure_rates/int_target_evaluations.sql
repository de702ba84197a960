-- One row per (interaction, metric that people calibrate), with score and label, each null if it is missing.
{{ config(materialized='view') }}
with evaluations as (
    select * from {{ ref('hcat', 'int_evaluations_completed') }}
),

targets as (
    select * from {{ ref('hcat', 'int_calibration_targets') }}
),

interactions as (
    select interaction_id, cluster_id, system from {{ ref('hcat', 'int_interactions_joined') }}
),

labels as (
    select * from {{ ref('hcat', 'int_labels') }}
),

final as (
    select
        evaluations.interaction_id,
        evaluations.metric_name,
        interactions.cluster_id,
        interactions.system,
        evaluations.raw_score,
        labels.label,
        labels.inclusion_probability
    from evaluations
    inner join targets on evaluations.metric_name = targets.metric_name
    inner join interactions on evaluations.interaction_id = interactions.interaction_id
    left join labels
        on evaluations.interaction_id = labels.interaction_id and evaluations.metric_name = labels.metric_name
)

select * from final
