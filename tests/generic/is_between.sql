{# Values inside the bounds; pair it with a completeness test, because null passes. #}
{% test is_between(model, column_name, minimum, maximum) %}
select {{ column_name }}
from {{ model }}
where {{ column_name }} < {{ minimum }} or {{ column_name }} > {{ maximum }} or not isfinite({{ column_name }})
{% endtest %}
