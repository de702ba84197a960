with described as (
    select * from {{ ref('hcat', 'int_metric_cells') }}
),

tested as (
    select * from {{ ref('hcat', 'int_weaknesses_tested') }}
),

final as (
    select
        tested.cell_id as marginal_weakness_id,
        tested.metric_name,
        tested.first_dimension as dimension,
        tested.first_segment as segment,
        {{ columns_of_a_weakness() | indent(8) }}
    from tested
    inner join described on tested.cell_id = described.cell_id
    where tested.second_dimension is null
)

select * from final
