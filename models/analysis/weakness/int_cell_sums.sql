-- One row per (metric, cell, jackknife group) with a score or an outcome. Estimates and their errors are computed from
-- these sums. Only this model reads all evaluations; the others calculate with its sums.
{{ config(materialized='table') }}

with evaluations as (
    select * from {{ ref('hcat', 'int_evaluations_numbered') }}
),

interactions as (
    select * from {{ ref('hcat', 'int_interactions_celled') }}
),

summed as (
    select
        evaluations.metric_number,
        interactions.cell_number,
        interactions.jackknife_group,
        count(evaluations.whole_score) as count_scored,
        sum(evaluations.whole_score) as sum_scores,
        -- the total may not fit 64 bits
        sum({{ whole_number('evaluations.squared_score') }}) as sum_squared_scores,
        count(evaluations.failing) as count_decided,
        sum(evaluations.failing) as count_failing,
        count(evaluations.failing_of_all) as count_decided_of_all,
        sum(evaluations.failing_of_all) as count_failing_of_all
    from interactions
    inner join evaluations on interactions.interaction_number = evaluations.interaction_number
    group by evaluations.metric_number, interactions.cell_number, interactions.jackknife_group
),

final as (
    select
        metric_number,
        cell_number,
        jackknife_group,
        count_scored,
        coalesce(sum_scores, 0) as sum_scores,
        coalesce(sum_squared_scores, 0) as sum_squared_scores,
        count_decided,
        coalesce(count_failing, 0)::bigint as count_failing,
        count_decided_of_all,
        coalesce(count_failing_of_all, 0)::bigint as count_failing_of_all
    from summed
    where count_scored + count_decided_of_all > 0
)

select * from final
