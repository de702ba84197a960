{# Every row of the expected index is in the model exactly once, and the model has no other rows. The index has each key
   once; then equal keys and equal numbers of rows prove that the model has, too, without grouping its rows. #}
{% test completes_index(model, index_model, key) %}
with expected as (
    select {{ key }} from {{ ref(index_model) }}
),

actual as (
    select {{ key }} from {{ model }}
),

counted as (
    select
        (select count(*) from expected) as count_expected,
        (select count(*) from actual) as count_actual
)

select coalesce(expected.{{ key }}, actual.{{ key }}) as {{ key }}
from expected
full outer join actual on expected.{{ key }} = actual.{{ key }}
where expected.{{ key }} is null or actual.{{ key }} is null
union all
select count_actual || ' rows, of which ' || count_expected || ' are expected' as {{ key }}
from counted
where count_actual <> count_expected
{% endtest %}
