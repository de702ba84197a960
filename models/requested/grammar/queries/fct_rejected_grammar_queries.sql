select
    query_group,
    sql_template_id,
    answer_status as reason,
    sql_text,
    placeholders,
    filled_values
from {{ ref('hcat', 'int_grammar_fillings') }}
where answer_status <> 'single_answer'
