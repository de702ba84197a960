-- What the ledger of risks and figures promises. A row names the broken promise and what breaks it.
{{ promises() }}

{% call promise('risks_are_watched', ['risks']) %}
-- Every risk names the criterion or metric that would show it, and the gate or metric that monitors it.
select risk_id as id, 'no criterion or metric shows it, or no gate or metric monitors it' as problem
from {{ seed('risks') }}
where coalesce(criterion, metric_name) is null or coalesce(control_gate, control_metric) is null
{% endcall %}

{% call promise('run_metrics_is_complete', ['fct_run_metrics']) %}
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
    coalesce(kept.metric_name, measured.metric_name) as id,
    'no row of this build, or other figures than the mart of weaknesses' as problem
from measured
full outer join kept on measured.metric_name = kept.metric_name
where
    kept.metric_name is null
    or measured.metric_name is null
    or kept.mean_score is distinct from measured.mean_score
    or kept.count_scored is distinct from measured.count_scored
{% endcall %}
