{# Every gate of the seed has exactly one verdict in this build. An empty result fails, so it never passes by
   accident. #}
{% test gates_all_evaluated(model) %}
select gates.gate_name, count(verdicts.gate_name) as count_verdicts
from {{ ref('hcat', 'int_gates_in_force') }} as gates
left join {{ model }} as verdicts on gates.gate_name = verdicts.gate_name
group by gates.gate_name
having count(verdicts.gate_name) <> 1
union all
select 'the seed threshold_gates is empty' as gate_name, 0 as count_verdicts
from (select count(*) as count_gates from {{ ref('hcat', 'int_gates_in_force') }})
where count_gates = 0
{% endtest %}
