with quantiles as (
    select * from {{ ref('hcat', 'int_marginal_cell_quantiles') }}
),

cells as (
    select * from {{ ref('hcat', 'int_metric_cells') }}
),

tested as (
    select * from {{ ref('hcat', 'int_weaknesses_tested') }}
),

final as (
    select
        md5(concat_ws('|', cells.cell_id, quantiles.quantile)) as score_distribution_id,
        cells.metric_name,
        cells.first_dimension as dimension,
        cells.first_segment as segment,
        tested.count_scored,
        quantiles.quantile,
        quantiles.score
    from quantiles
    inner join cells on quantiles.metric_number = cells.metric_number and quantiles.cell_number = cells.cell_number
    inner join tested on cells.cell_id = tested.cell_id
)

select * from final
