with described as (
    select * from {{ ref('hcat', 'int_cell_descriptions') }}
),

tested as (
    select * from {{ ref('hcat', 'int_weaknesses_tested') }}
),

final as (
    select
        -- ids
        described.cell_id as marginal_weakness_id,
        described.metric_name,
        described.first_dimension as dimension,
        described.first_segment as segment,

        {{ columns_of_a_weakness() | indent(8) }}
    from described
    inner join tested on described.cell_id = tested.cell_id
    where described.second_dimension is null
)

select * from final
