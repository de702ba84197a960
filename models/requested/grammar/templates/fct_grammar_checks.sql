select
    candidate_id,
    sql_template_id,
    {{ explode_records('checks') }}  -- noqa: AL03
from {{ ref('hcat', 'int_grammar_templates_made') }}
