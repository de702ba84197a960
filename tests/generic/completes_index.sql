{# Every row of the expected index is in the model exactly once, and the model has no other rows. #}
{% test completes_index(model, index_model, key) %}
select coalesce(expected.{{ key }}, actual.{{ key }}) as {{ key }}
from (select {{ key }} from {{ ref(index_model) }}) as expected
full outer join (select {{ key }} from {{ model }}) as actual on expected.{{ key }} = actual.{{ key }}
where expected.{{ key }} is null or actual.{{ key }} is null
{% endtest %}
