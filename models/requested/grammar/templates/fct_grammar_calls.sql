-- One row per call of the language model for templates.
select * from {{ ref('hcat', 'int_grammar_calls') }}
