{# Turns a missing file or column into one line; the model's own stack trace would be no message. #}
{% macro raise_on_file_problems() %}
select case when count(*) > 0 then error('hcat raw logs: ' || min(read_error)) end as file_problem
from {{ this }}
where is_file_problem
{% endmacro %}
