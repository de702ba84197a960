{{ config(enabled=not not var('hcat_judge'), tags=['judging']) }}
{{ keys_that_repeat({
    'fct_judge_agreement': 'judge_agreement_id',
    'fct_judge_calls': 'call_id'
}) }}
