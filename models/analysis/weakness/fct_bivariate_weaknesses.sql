select
    tested.cell_id as bivariate_weakness_id,
    tested.metric_name, tested.first_dimension, tested.first_segment, tested.second_dimension,
    tested.second_segment,
    {{ columns_of_a_weakness() | indent(4) }}
from {{ ref('hcat', 'int_weaknesses_tested') }} as tested
inner join {{ ref('hcat', 'int_metric_cells') }} as described on tested.cell_id = described.cell_id
where tested.second_dimension is not null
