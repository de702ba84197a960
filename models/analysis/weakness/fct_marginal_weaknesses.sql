select
    tested.cell_id as marginal_weakness_id,
    tested.metric_name,
    tested.first_dimension as dimension,
    tested.first_segment as segment,
    {{ columns_of_a_weakness() | indent(4) }}
from {{ ref('hcat', 'int_weaknesses_tested') }} as tested
inner join {{ ref('hcat', 'int_metric_cells') }} as described on tested.cell_id = described.cell_id
where tested.second_dimension is null
