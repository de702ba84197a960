{{ config(enabled=is_on('versions')) }}
-- What the latest version of each application does better and worse than the previous one, paired by query. Verdicts
-- come first, then the largest differences. A difference that is not shown may still exist: the interval says how large
-- it may be.
select
    application,
    baseline_version,
    candidate_version,
    metric_name,
    dimension,
    segment,
    measurement,
    family,
    verdict,
    release_answer,
    queries_needed,
    status,
    count_pairs,
    count_clusters,
    baseline_value,
    candidate_value,
    difference,
    difference_lower,
    difference_upper,
    q_value,
    count_regressions,
    count_improvements
from {{ ref('hcat', 'fct_version_comparisons') }}
where is_latest and status <> 'not_in_family'
order by
    application asc,
    case family when 'headline' then 0 when 'metrics' then 1 else 2 end asc,
    case verdict when 'worse' then 0 when 'better' then 1 else 2 end asc,
    abs(difference) desc nulls last,
    metric_name asc,
    dimension asc,
    segment asc,
    measurement asc
