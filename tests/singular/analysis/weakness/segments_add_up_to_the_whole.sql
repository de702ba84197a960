-- Every dimension splits the interactions that have a value in it, so the scored counts of its segments add up to them.
with by_dimension as (
    select metric_name, dimension, sum(count_scored) as count_scored
    from {{ ref('hcat', 'fct_marginal_weaknesses') }}
    group by metric_name, dimension
),

expected as (
    select evaluations.metric_name, segments.dimension, count(evaluations.raw_score) as count_scored
    from {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
    inner join {{ ref('hcat', 'int_interaction_segments') }} as segments
        on evaluations.interaction_id = segments.interaction_id
    group by evaluations.metric_name, segments.dimension
)

select expected.*, by_dimension.count_scored as count_in_mart
from expected
left join by_dimension
    on expected.metric_name = by_dimension.metric_name and expected.dimension = by_dimension.dimension
where by_dimension.count_scored is distinct from expected.count_scored
