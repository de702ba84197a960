-- One row per (metric, cell, quantile) of cells with scores, with the raw score at the quantile.
{{ config(materialized='view') }}
with marginal_cell_quantiles as (
    select * from {{ ref('hcat', 'int_marginal_cell_quantiles') }}
),

bivariate_cell_quantiles as (
    select * from {{ ref('hcat', 'int_bivariate_cell_quantiles') }}
),

final as (
    select * from marginal_cell_quantiles
    union all
    select * from bivariate_cell_quantiles
)

select * from final
