{# One row per gate of the given severity that does not pass in this build. #}
{% test gates_pass(model, gate_severity) %}
select gate_name, verdict, reason
from {{ model }}
where severity = '{{ gate_severity }}' and not is_passing
{% endtest %}
