select 'fct_evaluations of the bank' as name
