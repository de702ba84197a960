{# An expression over columns holds in every row where it has a value. A check of the contract would say the same, but
   DuckDB cannot replay the log of a table whose check calls a function (decision 49). #}
{% test holds(model, column_name, expression) %}
select {{ column_name }}
from {{ model }}
where not coalesce({{ expression }}, true)
{% endtest %}
