-- Which findings survive another encoder, window or random seed: one row per cell that is weak in either build.
-- Build the same logs a second time with the other setting, into another warehouse. Then run this query in the first
-- warehouse, after
--     attach '<other warehouse>/hcat.duckdb' as other (read_only);
with here as (
    select * from {{ ref('hcat', 'int_weaknesses_tested') }}
),

there as (
    select * from other.main.int_weaknesses_tested
),

compared as (
    select
        here.metric_name,
        here.first_dimension,
        here.first_segment,
        here.second_dimension,
        here.second_segment,
        here.difference as difference_here,
        there.difference as difference_there,
        there.test_status as test_status_there,
        coalesce(here.is_weak, false) as is_weak_here,
        coalesce(there.is_weak, false) as is_weak_there
    from here
    full outer join there on here.cell_id = there.cell_id
    where here.is_weak or there.is_weak
)

select
    *,
    avg(case when is_weak_here then is_weak_there::integer end) over () as share_surviving
from compared
order by difference_here desc nulls last
