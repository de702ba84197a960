-- One row per (metric, marginal cell, quantile) of cells with scores, with the raw score at the quantile. There are
-- enough quantiles to draw a distribution.
{{ config(
    materialized='table',
    pre_hook="{{ begin_buckets(
        '(select greatest(1, count(distinct first_dimension)) from '
        ~ ref('hcat', 'int_cells') ~ ' where second_dimension is null)'
    ) }}",
    post_hook="{{ insert_other_buckets() }}"
) }}
{%- set quantiles = [0.0, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 1.0] %}

with evaluations as (
    select interaction_number, metric_number, raw_score
    from {{ ref('hcat', 'int_evaluations_numbered') }}
    where raw_score is not null
),

interactions as (
    select * from {{ ref('hcat', 'int_interactions_celled') }}
),

numbered as (
    select cell_number, dense_rank() over (order by first_dimension) - 1 as bucket
    from {{ ref('hcat', 'int_cells') }}
    where second_dimension is null
),

-- lists of scores stay in memory: those of one dimension at a time
cells as (
    select cell_number
    from numbered
    where {{ is_bucket('bucket') }}
),

summarised as (
    select
        evaluations.metric_number,
        -- by small whole numbers DuckDB groups in an array, in which lists of scores cost twice the time
        interactions.cell_number::double as cell_key,
        -- one list: separate quantiles would hold the scores as many times
        {{ quantiles_of('evaluations.raw_score', quantiles) }} as scores
    from interactions
    inner join evaluations on interactions.interaction_number = evaluations.interaction_number
    inner join cells on interactions.cell_number = cells.cell_number
    group by evaluations.metric_number, cell_key
),

final as (
    select
        metric_number,
        cell_key::bigint as cell_number,
        {{ explode_together({'quantile': array_of(doubles(quantiles)), 'score': 'scores'}) }}
    from summarised
)

select * from final
