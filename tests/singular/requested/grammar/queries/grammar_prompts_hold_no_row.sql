-- No prompt contains a value of a row, neither a filled-in value nor an answer. A single short word may match a rule by
-- chance, so it counts only in quotes. Several words or a long number count anywhere.
{{ config(enabled=var('hcat_grammar'), tags=['grammar']) }}
with fillings as (
    select * from {{ ref('hcat', 'int_grammar_fillings') }}
),

row_values as (
    select {{ explode('filled_values') }} as row_value from fillings
    union
    select reference_answer as row_value from fillings
    where reference_answer is not null
),

-- prompts are JSON in JSON: without backslashes, quotes are quotes
prompts as (
    select call_id, replace(prompt, chr(92), '') as prompt from {{ ref('hcat', 'fct_grammar_calls') }}
)

select prompts.call_id, row_values.row_value
from prompts
inner join row_values
    on
        contains(prompts.prompt, '"' || row_values.row_value || '"')
        or contains(prompts.prompt, chr(39) || row_values.row_value || chr(39))
        or (
            {{ matches_pattern('row_values.row_value', '[a-zA-Z] [a-zA-Z0-9]|[0-9]{4}') }}
            and contains(prompts.prompt, row_values.row_value)
        )
