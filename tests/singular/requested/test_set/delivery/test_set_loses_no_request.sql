-- Every request ends in queries or in a reason, and every candidate is accepted or rejected. No request is lost
-- silently.
{{ config(enabled=var('hcat_test_set'), tags=['test_set']) }}

with unanswered as (
    select 'request without a row' as problem, requests.generation_key as lost_id
    from {{ ref('hcat', 'int_generation_requests') }} as requests
    left join {{ ref('hcat', 'int_queries_generated') }} as queries_generated
        on requests.generation_key = queries_generated.generation_key
    where queries_generated.generation_key is null
),

unchecked as (
    select 'candidate without a verdict' as problem, candidates.query_id as lost_id
    from {{ ref('hcat', 'int_generated_candidates') }} as candidates
    left join {{ ref('hcat', 'fct_test_queries') }} as accepted on candidates.query_id = accepted.query_id
    left join {{ ref('hcat', 'fct_rejected_queries') }} as rejected on candidates.query_id = rejected.query_id
    where (accepted.query_id is null) = (rejected.query_id is null)
)

select * from unanswered
union all
select * from unchecked
