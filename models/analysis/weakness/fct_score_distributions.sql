with quantiles as (
    select * from {{ ref('hcat', 'int_marginal_cell_quantiles') }}
),

totals as (
    select *
    from {{ ref('hcat', 'int_cell_totals') }}
    where half = 'all'
),

cells as (
    select * from {{ ref('hcat', 'int_cells') }}
),

metrics as (
    select * from {{ ref('hcat', 'int_metrics_numbered') }}
),

final as (
    select
        md5(concat_ws('|', {{ cell_id('metrics.metric_name', 'cells') }}, quantiles.quantile)) as score_distribution_id,
        metrics.metric_name,
        cells.first_dimension as dimension,
        cells.first_segment as segment,
        totals.count_scored::bigint as count_scored,
        quantiles.quantile,
        quantiles.score
    from quantiles
    inner join totals
        on
            quantiles.metric_number = totals.metric_number
            and quantiles.cell_number = totals.cell_number
    inner join cells on quantiles.cell_number = cells.cell_number
    inner join metrics on quantiles.metric_number = metrics.metric_number
)

select * from final
