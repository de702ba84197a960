select {{ columns_except(['checks', 'texts']) }}
from {{ ref('hcat', 'int_grammar_templates_made') }}
