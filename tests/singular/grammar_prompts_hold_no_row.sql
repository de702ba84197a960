-- No prompt holds a value of a row: none that was filled in, and no answer. Values that are also a word of the schema or of
-- the rules (every prompt has those) would alarm without a leak, so a value counts where it stands as a text of its own.
{{ config(enabled=var('hcat_grammar', false), tags=['grammar']) }}
with fillings as (
    select * from {{ ref('int_grammar_fillings') }}
),

row_values as (
    select unnest(filled_values) as row_value from fillings
    union
    select reference_answer as row_value from fillings
    where reference_answer is not null
),

prompts as (
    select call_id, prompt from {{ ref('fct_grammar_calls') }}
)

select prompts.call_id, row_values.row_value
from prompts
inner join row_values
    on
        contains(prompts.prompt, '"' || row_values.row_value || '"')
        or contains(prompts.prompt, chr(39) || row_values.row_value || chr(39))
