{# Every key of the expected index is in the model exactly once, and the model has no other rows. #}
{% test completes_index(model, index_model, key) %}
with expected as (
    select {{ key }} from {{ ref(index_model) }}
),

actual as (
    select {{ key }} from {{ model }}
),

counted as (
    select
        (select count(*) from actual) as count_rows,
        (select count(distinct {{ key }}) from actual) as count_keys
)

select coalesce(expected.{{ key }}, actual.{{ key }}) as {{ key }}
from expected
full outer join actual on expected.{{ key }} = actual.{{ key }}
where expected.{{ key }} is null or actual.{{ key }} is null
union all
select count_rows || ' rows have ' || count_keys || ' keys' as {{ key }}
from counted
where count_rows <> count_keys
{% endtest %}
