-- A shipped gate of a module that is off is left out. A project's own one stops the build
-- (raise_when_a_gate_is_switched_off).
{%- set measurements_off = measurements_switched_off() | join("', '") %}
{%- set families_off = families_switched_off() | join("', '") %}
select gates.*
from {{ seed('threshold_gates') }} as gates
left join {{ seed('metric_catalog') }} as metrics on gates.metric_name = metrics.metric_name
where
    gates.measurement not in ('{{ measurements_off }}')
    and coalesce(metrics.family, '') not in ('{{ families_off or "-" }}')
