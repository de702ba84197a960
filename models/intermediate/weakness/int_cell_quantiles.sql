-- One row per (metric, cell, quantile): raw score at the quantile, of cells with scores. Marginal cells have those of a
-- picture of the distribution as well.
{{ config(materialized='table') }}
{%- set described = [0.05, 0.25, 0.5, 0.75, 0.95] %}
{%- set drawn = [0.0, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 0.95, 1.0] %}

with evaluations as (
    select interaction_number, metric_number, raw_score
    from {{ ref('int_evaluations_numbered') }}
    where raw_score is not null
),

interactions as (
    select * from {{ ref('int_interactions_celled') }}
),

cells as (
    select * from {{ ref('int_cells') }}
),

marginal_cells as (
    select cell_number from cells
    where second_dimension is null
),

bivariate_cells as (
    select cell_number from cells
    where second_dimension is not null
),

marginal as (
    select
        evaluations.metric_number,
        interactions.cell_number,
        -- one list: separate quantiles would hold the scores as many times
        quantile_cont(evaluations.raw_score, {{ drawn }}) as scores
    from interactions
    inner join evaluations on interactions.interaction_number = evaluations.interaction_number
    inner join marginal_cells on interactions.cell_number = marginal_cells.cell_number
    group by evaluations.metric_number, interactions.cell_number
),

bivariate as (
    select
        evaluations.metric_number,
        interactions.cell_number,
        quantile_cont(evaluations.raw_score, {{ described }}) as scores
    from interactions
    inner join evaluations on interactions.interaction_number = evaluations.interaction_number
    inner join bivariate_cells on interactions.cell_number = bivariate_cells.cell_number
    group by evaluations.metric_number, interactions.cell_number
),

final as (
    select metric_number, cell_number, unnest({{ drawn }})::double as quantile, unnest(scores) as score
    from marginal
    union all
    select metric_number, cell_number, unnest({{ described }})::double as quantile, unnest(scores) as score
    from bivariate
)

select * from final
