-- This build left one row per primary metric that it measured, with the figures of the mart of weaknesses.
with kept as (
    select * from {{ ref('hcat', 'fct_run_metrics') }}
    where run_id = '{{ invocation_id }}'
),

measured as (
    select * from {{ ref('hcat', 'fct_marginal_weaknesses') }}
    where dimension = 'all'
)

select
    coalesce(kept.metric_name, measured.metric_name) as metric_name,
    kept.mean_score,
    measured.mean_score as measured_mean
from measured
full outer join kept on measured.metric_name = kept.metric_name
where
    kept.metric_name is null
    or measured.metric_name is null
    or kept.mean_score is distinct from measured.mean_score
    or kept.count_scored is distinct from measured.count_scored
