{# Turns missing files and columns into one line; the model's own stack trace would be no message. #}
{% macro raise_on_file_problems() %}
select case when count(*) > 0 then error('hcat raw logs: ' || string_agg(read_error, '; ' order by source_file)) end
    as file_problem
from {{ this }}
where is_file_problem
{% endmacro %}
