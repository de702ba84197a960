{{ config(enabled=is_on('findings')) }}
-- Every failing (interaction, primary metric) has a cause, and nothing else has one.
with failures as (
    select interaction_id, metric_name
    from {{ ref('hcat', 'int_primary_evaluations') }}
    where is_failing_of_all
),

causes as (
    select interaction_id, metric_name from {{ ref('hcat', 'fct_failure_causes') }}
)

select
    coalesce(failures.interaction_id, causes.interaction_id) as interaction_id,
    coalesce(failures.metric_name, causes.metric_name) as metric_name
from failures
full outer join causes on failures.interaction_id = causes.interaction_id and failures.metric_name = causes.metric_name
where failures.interaction_id is null or causes.interaction_id is null
