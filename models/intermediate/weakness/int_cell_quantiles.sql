-- One row per (metric, cell, quantile): raw score at the quantile, of cells with scores.
{{ config(materialized='table') }}
{%- set quantiles = [
    0.0, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5,
    0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99, 1.0
] %}

with evaluations as (
    select * from {{ ref('int_evaluations_abreast') }}
),

interactions as (
    select * from {{ ref('int_interactions_celled') }}
),

metrics as (
    select * from {{ ref('int_metrics_numbered') }}
),

summarised as (
    select
        evaluations.metric_block,
        interactions.cell_number
        {%- for position in range(var('hcat_metrics_abreast')) %},
        -- one list: separate quantiles would hold the scores as many times
        quantile_cont(evaluations.raw_score_{{ position }}, {{ quantiles }}) as scores_{{ position }}
        {%- endfor %}
    from evaluations
    inner join interactions on evaluations.interaction_number = interactions.interaction_number
    group by evaluations.metric_block, interactions.cell_number
),

laid_out as (
    {%- for position in range(var('hcat_metrics_abreast')) %}
    select
        metric_block,
        {{ position }} as metric_position,
        cell_number,
        unnest({{ quantiles }})::double as quantile,
        unnest(scores_{{ position }}) as score
    from summarised
    {{ 'union all' if not loop.last }}
    {%- endfor %}
),

final as (
    select metrics.metric_number, laid_out.cell_number, laid_out.quantile, laid_out.score
    from laid_out
    inner join metrics
        on
            laid_out.metric_block = metrics.metric_block
            and laid_out.metric_position = metrics.metric_position
    where laid_out.score is not null
)

select * from final
