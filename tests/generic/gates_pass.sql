{# The gates of one severity that do not pass in this build, one row each. #}
{% test gates_pass(model, gate_severity) %}
select gate_name, verdict, reason
from {{ model }}
where severity = '{{ gate_severity }}' and not is_passing
{% endtest %}
