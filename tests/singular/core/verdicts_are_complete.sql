-- Every interaction has one verdict, and no other row exists. Every interaction is expected to have one evaluation
-- for each metric: completes_index compares evaluations with these, and does not see a key that is twice on both sides.
with metrics as (
    select count(*) as count_metrics
    from {{ ref('hcat', 'dim_metrics') }}
),

expected as (
    select interaction_id, count(*) as count_evaluations
    from {{ ref('hcat', 'int_evaluations_expected') }}
    group by interaction_id
)

select coalesce(interactions.interaction_id, verdicts.interaction_id) as interaction_id
from {{ ref('hcat', 'fct_interactions') }} as interactions
full outer join {{ ref('hcat', 'fct_verdicts') }} as verdicts
    on interactions.interaction_id = verdicts.interaction_id
where interactions.interaction_id is null or verdicts.interaction_id is null
union all
select expected.interaction_id
from expected
cross join metrics
where expected.count_evaluations <> metrics.count_metrics
