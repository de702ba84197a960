select * from {{ ref('hcat', 'int_judge_calls') }}
