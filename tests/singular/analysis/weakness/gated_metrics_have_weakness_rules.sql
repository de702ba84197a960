-- Every gated metric that has scores also has a weakness rule, and every rule names a primary metric; that of a module
-- which is switched off may stay.
with gated as (
    select distinct gates.metric_name
    from {{ ref('hcat', 'int_gates_in_force') }} as gates
    inner join {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
        on gates.metric_name = evaluations.metric_name
    where evaluations.raw_score is not null
),

rules as (
    select metric_name from {{ seed('metric_rules') }}
    where rule_for = 'weakness'
),

primary_metrics as (
    select metric_name from {{ ref('hcat', 'int_metric_catalog') }}
    where is_primary
    union all
    select shipped.metric_name
    from {{ seed('metric_catalog') }} as shipped
    left join {{ ref('hcat', 'int_metric_catalog') }} as metrics on shipped.metric_name = metrics.metric_name
    where metrics.metric_name is null
)

select gated.metric_name, 'a gated metric without a rule' as problem
from gated
left join rules on gated.metric_name = rules.metric_name
where rules.metric_name is null
union all
select rules.metric_name, 'a rule for a metric that is not primary' as problem
from rules
left join primary_metrics on rules.metric_name = primary_metrics.metric_name
where primary_metrics.metric_name is null
