{# Every key of the expected index is in the model exactly once, and the model has no other rows. #}
{% test completes_index(model, index_model, key) %}
-- one aggregation: joins of millions of keys cannot be spilled together with a count of distinct ones
with rows_of_both as (
    select {{ key }}, 1 as is_expected, 0 as is_actual from {{ ref(index_model) }}
    union all
    select {{ key }}, 0 as is_expected, 1 as is_actual from {{ model }}
)

select {{ key }}, sum(is_expected) as count_expected, sum(is_actual) as count_actual
from rows_of_both
group by {{ key }}
having sum(is_expected) = 0 or sum(is_actual) <> 1 or {{ key }} is null
{% endtest %}
