-- Sets that cover fewer labels of fold test than chance allows (one-sided, .1 %, Holm over the checks of a fit). If the
-- test fails, the labels of stage 2 are no random sample, or something has changed since.
select
    metric_name,
    alpha,
    stratification,
    stratum,
    label,
    count_test_clusters,
    count_covered,
    coverage_limit
from {{ ref('int_conformal_quantiles') }}
where check_status = 'failed'
