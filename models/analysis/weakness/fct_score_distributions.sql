with cells as (
    select *
    from {{ ref('hcat', 'int_metric_cells') }}
    where second_dimension is null
),

listed as (
    select cell_id, {{ explode_together({'quantile': 'quantiles', 'score': 'scores'}) }}
    from cells
),

final as (
    select
        md5(concat_ws('|', listed.cell_id, listed.quantile)) as score_distribution_id,
        tested.metric_name,
        tested.first_dimension as dimension,
        tested.first_segment as segment,
        tested.count_scored, listed.quantile, listed.score
    from listed
    inner join {{ ref('hcat', 'int_weaknesses_tested') }} as tested on listed.cell_id = tested.cell_id
)

select * from final
