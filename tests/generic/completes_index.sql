{# Every key of the expected index is in the model exactly once, and the model has no other rows. A test of the
   index proves that its own key is unique, which sums cannot see. #}
{% test completes_index(model, index_model, key) %}
{%- set rows_of_both %}
    select {{ key }}, {{ hash_row([key]) }} as key_hash, 1 as is_expected, 0 as is_actual
    from {{ ref(index_model) }}
    union all
    select {{ key }}, {{ hash_row([key]) }} as key_hash, 0 as is_expected, 1 as is_actual
    from {{ model }}
{%- endset %}
{%- set count_buckets = 1024 %}
{%- set side_of_hash = 'sum(case when {} = 1 then cast(key_hash as decimal(38, 0)) else 0 end)' %}

-- Keys are compared one by one only in buckets where number and sum of their hashes differ: to group millions of keys
-- takes four times as long.
with buckets_that_differ as (
    select key_hash % {{ count_buckets }} as bucket
    from ({{ rows_of_both }}
    ) as hashed
    group by key_hash % {{ count_buckets }}
    having
        count({{ key }}) < count(*)
        or sum(is_expected) <> sum(is_actual)
        or {{ side_of_hash.format('is_expected') }} <> {{ side_of_hash.format('is_actual') }}
),

suspected as (
    select *
    from ({{ rows_of_both }}
    ) as hashed
    where key_hash % {{ count_buckets }} in (select buckets_that_differ.bucket from buckets_that_differ)
)

select {{ key }}, sum(is_expected) as count_expected, sum(is_actual) as count_actual
from suspected
group by {{ key }}
having sum(is_expected) = 0 or sum(is_actual) <> 1 or {{ key }} is null
{% endtest %}
