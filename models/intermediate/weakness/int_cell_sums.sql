-- One row per (metric, cell, jackknife group) with a score or an outcome: the sums that estimates and their errors are
-- made of. This is the one pass over all evaluations; the rest is arithmetic on these sums.
{{ config(materialized='table') }}

with evaluations as (
    select * from {{ ref('int_evaluations_abreast') }}
),

interactions as (
    select * from {{ ref('int_interactions_celled') }}
),

metrics as (
    select * from {{ ref('int_metrics_numbered') }}
),

summed as (
    select
        evaluations.metric_block,
        interactions.cell_number,
        evaluations.jackknife_group
        {%- for position in range(var('hcat_metrics_abreast')) %},
        count(evaluations.whole_score_{{ position }}) as count_scored_{{ position }},
        sum(evaluations.whole_score_{{ position }}) as sum_scores_{{ position }},
        sum(evaluations.squared_score_{{ position }}) as sum_squared_scores_{{ position }},
        count(evaluations.failing_{{ position }}) as count_decided_{{ position }},
        sum(evaluations.failing_{{ position }}) as count_failing_{{ position }},
        count(evaluations.failing_of_all_{{ position }}) as count_decided_of_all_{{ position }},
        sum(evaluations.failing_of_all_{{ position }}) as count_failing_of_all_{{ position }}
        {%- endfor %}
    from evaluations
    inner join interactions on evaluations.interaction_number = interactions.interaction_number
    group by evaluations.metric_block, interactions.cell_number, evaluations.jackknife_group
),

laid_out as (
    {%- for position in range(var('hcat_metrics_abreast')) %}
    select
        metric_block,
        {{ position }} as metric_position,
        cell_number,
        jackknife_group,
        count_scored_{{ position }} as count_scored,
        coalesce(sum_scores_{{ position }}, 0) as sum_scores,
        coalesce(sum_squared_scores_{{ position }}, 0) as sum_squared_scores,
        count_decided_{{ position }} as count_decided,
        coalesce(count_failing_{{ position }}, 0)::bigint as count_failing,
        count_decided_of_all_{{ position }} as count_decided_of_all,
        coalesce(count_failing_of_all_{{ position }}, 0)::bigint as count_failing_of_all
    from summed
    {{ 'union all' if not loop.last }}
    {%- endfor %}
),

final as (
    select
        metrics.metric_number,
        laid_out.cell_number,
        laid_out.jackknife_group,
        laid_out.count_scored,
        laid_out.sum_scores,
        laid_out.sum_squared_scores,
        laid_out.count_decided,
        laid_out.count_failing,
        laid_out.count_decided_of_all,
        laid_out.count_failing_of_all
    from laid_out
    inner join metrics
        on
            laid_out.metric_block = metrics.metric_block
            and laid_out.metric_position = metrics.metric_position
    where laid_out.count_scored + laid_out.count_decided_of_all > 0
)

select * from final
