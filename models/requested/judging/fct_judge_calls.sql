-- One row per call of the judge: the ledger of every prompt and every answer, with tokens.
select * from {{ ref('hcat', 'int_judge_calls') }}
