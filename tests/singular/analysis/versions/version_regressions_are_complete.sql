{{ config(enabled=is_on('versions')) }}
-- The regressions that a comparison counts over all queries are exactly the listed ones.
with counted as (
    select application, baseline_version, candidate_version, metric_name, count_regressions
    from {{ ref('hcat', 'fct_version_comparisons') }}
    where dimension = 'all' and measurement = 'share_failing_of_all'
),

listed as (
    select application, baseline_version, candidate_version, metric_name, count(*) as count_listed
    from {{ ref('hcat', 'fct_version_regressions') }}
    group by application, baseline_version, candidate_version, metric_name
)

select
    counted.application,
    counted.baseline_version,
    counted.candidate_version,
    counted.metric_name,
    counted.count_regressions,
    listed.count_listed
from counted
full outer join listed
    on
        counted.application = listed.application
        and counted.baseline_version = listed.baseline_version
        and counted.candidate_version = listed.candidate_version
        and counted.metric_name = listed.metric_name
where coalesce(counted.count_regressions, 0) <> coalesce(listed.count_listed, 0)
