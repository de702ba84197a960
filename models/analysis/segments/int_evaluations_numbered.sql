-- One row per (interaction, primary metric) for each metric that applies, with whole numbers as ids. Scores are whole
-- numbers too, so that their sums do not depend on the order of adding.
{{ config(materialized='table') }}

with evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
),

interactions as (
    select * from {{ ref('hcat', 'int_interactions_numbered') }}
),

metrics as (
    select * from {{ ref('hcat', 'int_metrics_numbered') }}
),

numbered as (
    select
        interactions.interaction_number,
        metrics.metric_number,
        evaluations.raw_score,
        round(evaluations.raw_score * metrics.scores_per_unit)::bigint as whole_score,
        evaluations.is_failing::bigint as failing,
        evaluations.is_failing_of_all::bigint as failing_of_all
    from evaluations
    inner join interactions on evaluations.interaction_id = interactions.interaction_id
    inner join metrics on evaluations.metric_name = metrics.metric_name
),

final as (
    select
        interaction_number,
        metric_number,
        raw_score,
        whole_score,
        whole_score * whole_score as squared_score,
        failing,
        failing_of_all
    from numbered
    -- rows that are summed together are stored together: models that read them by cell take a third less time
    order by interaction_number
)

select * from final
