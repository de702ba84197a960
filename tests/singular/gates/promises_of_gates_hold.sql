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
with expected as (
    select metric_name, mean_score, count_scored from {{ ref('hcat', 'fct_marginal_weaknesses') }}
    where dimension = 'all'
),

found as (
    select metric_name, mean_score, count_scored from {{ ref('hcat', 'fct_run_metrics') }}
    where run_id = '{{ invocation_id }}'
)

{{ rows_that_differ('metric_name') }}
{% endcall %}
