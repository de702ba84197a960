{{ config(enabled=is_on('semantic')) }}
-- What a BI tool relies on. A row names the broken promise and what breaks it.
{{ promises() }}

{% call promise('semantic_evaluations_are_complete', ['semantic_evaluations']) %}
-- Every evaluation has one row. Its key is then unique, because those of fct_evaluations and fct_interactions are
-- tested. To group all rows by it again takes longer than any other test of a large warehouse.
with joined as (
    select count(*) as count_rows from {{ ref('hcat', 'semantic_evaluations') }}
),

evaluations as (
    select count(*) as count_rows from {{ ref('hcat', 'fct_evaluations') }}
)

select
    'all rows' as id,
    concat_ws(' ', cast(joined.count_rows as string), 'of', cast(evaluations.count_rows as string)) as problem
from joined
cross join evaluations
where joined.count_rows <> evaluations.count_rows
union all
select interaction_id as id, 'an evaluation without its key' as problem
from {{ ref('hcat', 'semantic_evaluations') }}
where evaluation_id is null
{% endcall %}

{% call promise('days_are_unique', ['time_spine_days']) %}
select day as id, concat_ws(' ', cast(count(*) as string), 'rows') as problem
from {{ ref('hcat', 'time_spine_days') }}
group by day
having count(*) > 1 or day is null
{% endcall %}
