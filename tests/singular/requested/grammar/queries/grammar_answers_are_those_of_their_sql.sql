-- Every stored SQL text, run again by itself, gives the stored answer and no other answer.
{{ config(enabled=var('hcat_grammar'), tags=['grammar']) }}
with queries as (
    select distinct query_group, reference_answer from {{ ref('hcat', 'fct_grammar_queries') }}
),

rerun as (
    select * from {{ ref('hcat', 'int_grammar_answers_rerun') }}
)

select queries.query_group
from queries
full outer join rerun on queries.query_group = rerun.query_group
where
    rerun.answer_status is distinct from 'single_answer'
    or queries.reference_answer is distinct from rerun.reference_answer
