-- Every topic of the documents has accepted queries. A topic without queries would not be tested.
{{ config(severity='warn', enabled=var('hcat_test_set'), tags=['test_set']) }}

select segment, count_outcomes
from {{ ref('hcat', 'fct_test_coverage') }}
where
    dimension = 'topic'
    and outcome = 'accepted'
    and count_outcomes < 3
