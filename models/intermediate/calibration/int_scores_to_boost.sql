-- One row per (interaction, metric) with a score whose chosen calibrator is made of trees: what SQL cannot apply.
with evaluations as (
    select interaction_id, metric_name, raw_score from {{ ref('int_evaluations_completed') }}
    where raw_score is not null
),

calibrators as (
    select metric_name from {{ ref('int_calibrators_fitted') }}
    where is_chosen and family = 'boosted'
),

final as (
    select evaluations.*
    from evaluations
    inner join calibrators on evaluations.metric_name = calibrators.metric_name
)

select * from final
