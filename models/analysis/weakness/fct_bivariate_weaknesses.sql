with described as (
    select * from {{ ref('hcat', 'int_cell_descriptions') }}
),

tested as (
    select * from {{ ref('hcat', 'int_weaknesses_tested') }}
),

final as (
    select
        -- ids
        described.cell_id as bivariate_weakness_id,
        described.metric_name,
        described.first_dimension,
        described.first_segment,
        described.second_dimension,
        described.second_segment,

        {{ columns_of_a_weakness() | indent(8) }}
    from described
    inner join tested on described.cell_id = tested.cell_id
    where described.second_dimension is not null
)

select * from final
