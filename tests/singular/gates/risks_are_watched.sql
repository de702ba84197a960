-- Every risk names the criterion or metric that would show it, and the gate or metric that monitors it.
select risk_id, criterion, metric_name, control_gate, control_metric
from {{ seed('risks') }}
where coalesce(criterion, metric_name) is null or coalesce(control_gate, control_metric) is null
