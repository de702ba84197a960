-- One row per SQL template that somebody wrote, with its final status.
select {{ columns_except(['checks', 'texts']) }}
from {{ ref('hcat', 'int_grammar_templates_made') }}
