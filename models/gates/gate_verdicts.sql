-- Models that depend on this one are built only if every gate of severity error passes. Its tests stand between the
-- gates and the published copy.
{{ config(materialized='table') }}

select gate_result_id, run_id, gate_name, severity, verdict, reason, is_passing
from {{ ref('hcat', 'fct_threshold_gates') }}
where run_id = '{{ invocation_id }}'
