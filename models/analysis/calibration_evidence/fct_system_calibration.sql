with measured as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'quality' and is_chosen
),

-- system, status, method, count_labels, count_clusters, share_accepted, mean_prediction, difference, low, high
systems as (
    select
        metric_name, criterion, family,
        {{ explode_records('systems') }}  -- noqa: AL03
    from measured
)

select {{ columns_of_contract({
    'system_calibration_id': "md5(concat_ws('|', metric_name, system))",
    'calibrator': 'family',
    'count_labels': 'count_labels::integer',
    'count_clusters': 'count_clusters::integer',
    'difference_low': 'low',
    'difference_high': 'high',
}) }}
from systems
