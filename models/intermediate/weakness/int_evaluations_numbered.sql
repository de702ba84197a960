-- One row per (interaction, primary metric) that applies to it, with numbers in place of ids. Scores are whole numbers
-- too, whose sums do not depend on the order of adding.
with evaluations as (
    select * from {{ ref('int_primary_evaluations') }}
),

interactions as (
    select * from {{ ref('int_interactions_numbered') }}
),

metrics as (
    select * from {{ ref('int_metrics_numbered') }}
),

final as (
    select
        interactions.interaction_number,
        interactions.jackknife_group,
        metrics.metric_number,
        metrics.metric_block,
        metrics.metric_position,
        evaluations.raw_score,
        round(evaluations.raw_score * metrics.scores_per_unit)::bigint as whole_score,
        evaluations.is_failing::integer as failing,
        evaluations.is_failing_of_all::integer as failing_of_all
    from evaluations
    inner join interactions on evaluations.interaction_id = interactions.interaction_id
    inner join metrics on evaluations.metric_name = metrics.metric_name
)

select * from final
