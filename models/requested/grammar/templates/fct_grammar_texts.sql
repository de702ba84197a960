select
    sql_template_id,
    {{ explode_records('texts') }}  -- noqa: AL03
from {{ ref('hcat', 'int_grammar_templates_made') }}
