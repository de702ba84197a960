-- One row per (interaction, metric) with a score and a calibrator in force for its version. The calibrator is that of
-- the interaction's segment where there is one, else the calibrator for all segments.
{{ config(materialized='view') }}
with evaluations as (
    select interaction_id, metric_name, raw_score from {{ ref('hcat', 'int_evaluations_completed') }}
    where raw_score is not null
),

strata as (
    select interaction_id, segment from {{ ref('hcat', 'int_interaction_strata') }}
),

version_classes as (
    select * from {{ ref('hcat', 'int_interaction_version_classes') }}
),

-- A score has no probability when its version class has too few labels.
valid_classes as (
    select metric_name, version_class from {{ ref('hcat', 'int_calibration_validity') }}
    where calibration_status in ('in_force', 'expired')
),

calibrators as (
    select metric_name, segment, family from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'calibrators' and is_chosen
),

final as (
    select
        evaluations.interaction_id,
        evaluations.metric_name,
        coalesce(own_calibrators.segment, calibrators.segment) as segment,
        coalesce(own_calibrators.family, calibrators.family) as family,
        evaluations.raw_score
    from evaluations
    inner join strata on evaluations.interaction_id = strata.interaction_id
    inner join version_classes on evaluations.interaction_id = version_classes.interaction_id
    inner join valid_classes
        on
            evaluations.metric_name = valid_classes.metric_name
            and version_classes.version_class = valid_classes.version_class
    inner join calibrators on evaluations.metric_name = calibrators.metric_name and calibrators.segment = 'all'
    left join calibrators as own_calibrators
        on evaluations.metric_name = own_calibrators.metric_name and strata.segment = own_calibrators.segment
)

select * from final
