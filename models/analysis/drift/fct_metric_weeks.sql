select {{ columns_of_contract({
    'metric_week_id': "md5(concat_ws('|', metric_name, dimension, segment, coalesce(week_start::string, week_status)))",
    'count_interactions': 'count_interactions::bigint',
    'count_scored': 'count_scored::bigint',
    'count_clusters': 'count_clusters::bigint',
    'count_failing': 'case when count_decided > 0 then count_failing end::bigint',
    'share_failing_lower': wilson_bound('share_failing', 'decided_effective', 'lower'),
    'share_failing_upper': wilson_bound('share_failing', 'decided_effective', 'upper'),
}) }}
from {{ ref('hcat', 'int_drift_measured') }}
where part = 'weeks'
