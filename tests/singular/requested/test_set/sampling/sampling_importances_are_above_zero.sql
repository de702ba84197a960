{{ config(enabled=var('hcat_test_set'), tags=['test_set']) }}
-- A chunk with importance 0 could never be sampled, and no weight could correct for it.
select *
from {{ seed('stratum_importance') }}
where importance is null or not importance > 0 or not {{ is_finite('importance') }}
