-- One row per (metric, cell, jackknife group of clusters or of documents) with a score or an outcome. Estimates and
-- their errors are computed from these sums. Scores are added as whole numbers, so that no order of adding matters.
{{ config(materialized='table') }}

with evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
    where is_in_release_population
),

cells as (
    select interaction_id, cell_key, jackknife_group, false as is_second
    from {{ ref('hcat', 'int_interaction_cells') }}
    union all
    select interaction_id, cell_key, second_group as jackknife_group, true as is_second
    from {{ ref('hcat', 'int_interaction_cells') }}
),

-- squares of whole scores must fit 64 bits: the unit is a billionth for scores within 3, and ten times as large for
-- every further digit
units as (
    select
        metric_name,
        case
            when max(abs(raw_score)) > 3 then 1e9 / power(10, ceil(log10(max(abs(raw_score)) / 3)))
            else 1e9
        end as scores_per_unit
    from evaluations
    group by metric_name
),

counted as (
    select
        evaluations.interaction_id, evaluations.metric_name,
        round(evaluations.raw_score * units.scores_per_unit)::bigint as whole_score,
        evaluations.is_failing::bigint as failing,
        evaluations.is_failing_of_all::bigint as failing_of_all
    from evaluations
    inner join units on evaluations.metric_name = units.metric_name
),

squared as (
    select *, whole_score * whole_score as squared_score
    from counted
),

summed as (
    select
        squared.metric_name, cells.cell_key, cells.jackknife_group, cells.is_second,
        count(squared.whole_score) as count_scored,
        sum(squared.whole_score) as sum_scores,
        -- the total may not fit 64 bits
        sum({{ whole_number('squared.squared_score') }}) as sum_squared_scores,
        count(squared.failing) as count_decided,
        sum(squared.failing) as count_failing,
        count(squared.failing_of_all) as count_decided_of_all,
        sum(squared.failing_of_all) as count_failing_of_all
    from cells
    inner join squared on cells.interaction_id = squared.interaction_id
    group by squared.metric_name, cells.cell_key, cells.jackknife_group, cells.is_second
),

final as (
    select
        summed.metric_name, summed.cell_key, summed.jackknife_group, summed.is_second, units.scores_per_unit,
        summed.count_scored,
        coalesce(summed.sum_scores, 0) as sum_scores,
        coalesce(summed.sum_squared_scores, 0) as sum_squared_scores,
        summed.count_decided,
        coalesce(summed.count_failing, 0)::bigint as count_failing,
        summed.count_decided_of_all,
        coalesce(summed.count_failing_of_all, 0)::bigint as count_failing_of_all
    from summed
    inner join units on summed.metric_name = units.metric_name
    where summed.count_scored + summed.count_decided_of_all > 0
)

select * from final
