-- Every interaction has one verdict, and no other row exists.
select coalesce(interactions.interaction_id, verdicts.interaction_id) as interaction_id
from {{ ref('hcat', 'fct_interactions') }} as interactions
full outer join {{ ref('hcat', 'fct_verdicts') }} as verdicts
    on interactions.interaction_id = verdicts.interaction_id
where interactions.interaction_id is null or verdicts.interaction_id is null
