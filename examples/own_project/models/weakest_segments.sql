-- One row per (metric, segment) of the own assistant in which something fails, and what the test says: the package's
-- marts are ordinary refs.
select
    metric_name,
    dimension,
    segment,
    share_failing,
    share_failing_lower,
    share_failing_upper,
    count_clusters,
    test_status,
    is_weak
from {{ ref('hcat', 'fct_marginal_weaknesses') }}
where share_failing > 0
