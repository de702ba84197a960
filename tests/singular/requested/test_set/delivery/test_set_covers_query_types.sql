-- Every query type that the generator can write has accepted queries. The outcome needs_language_model of
-- fct_test_coverage shows types that need a language model and have none.
{{ config(severity='warn', enabled=var('hcat_test_set'), tags=['test_set']) }}

with coverage as (
    select * from {{ ref('hcat', 'fct_test_coverage') }}
    where dimension = 'query_type'
),

out_of_reach as (
    select segment from coverage
    where outcome = 'needs_language_model'
)

select coverage.segment, coverage.count_outcomes
from coverage
left join out_of_reach on coverage.segment = out_of_reach.segment
where
    coverage.outcome = 'accepted'
    and out_of_reach.segment is null
    and coverage.count_outcomes < 5
