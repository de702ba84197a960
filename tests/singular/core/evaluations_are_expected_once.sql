-- Each interaction is expected to have one evaluation for each metric. completes_index compares evaluations with what is
-- expected by number and sum, and does not see a key that is there twice on both sides.
with metrics as (
    select count(*) as count_metrics
    from {{ ref('hcat', 'dim_metrics') }}
),

expected as (
    select interaction_id, count(*) as count_evaluations
    from {{ ref('hcat', 'int_evaluations_expected') }}
    group by interaction_id
)

select expected.interaction_id, expected.count_evaluations, metrics.count_metrics
from expected
cross join metrics
where expected.count_evaluations <> metrics.count_metrics
