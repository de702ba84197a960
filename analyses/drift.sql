{{ config(enabled=is_on('drift')) }}
-- What moved against its reference, by both tests. Drifting series come first, the most significant on
-- top, each with its interval and the limit of Student's t beyond which it alarms.
select
    metric_name,
    dimension,
    segment,
    test,
    window_start,
    window_end,
    value_reference,
    value_window,
    difference,
    difference_lower,
    difference_upper,
    statistic,
    limit_value,
    q_value,
    alarm_level,
    count_reference,
    count_window,
    is_drifting
from {{ ref('hcat', 'fct_metric_drift') }}
where status = 'tested'
order by
    is_drifting desc,
    q_value asc nulls last,
    metric_name asc,
    dimension asc,
    segment asc,
    test asc,
    window_weeks asc
