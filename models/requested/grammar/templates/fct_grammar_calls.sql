select * from {{ ref('hcat', 'int_grammar_calls') }}
