-- A chunk of no importance could never be sampled, and no weight would make up for it.
select *
from {{ ref('stratum_importance') }}
where importance is null or not importance > 0 or not {{ is_finite('importance') }}
