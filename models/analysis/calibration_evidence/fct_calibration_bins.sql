with measured as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'quality'
),

-- position, lowest, highest, mean_prediction, share_accepted, low, high, count_labels, count_clusters
bins as (
    select
        metric_name, family, is_chosen,
        {{ explode_records('bins') }}  -- noqa: AL03
    from measured
)

select {{ columns_of_contract({
    'calibration_bin_id': "md5(concat_ws('|', metric_name, family, position))",
    'calibrator': 'family',
    'bin': 'position',
    'share_accepted_low': 'low',
    'share_accepted_high': 'high',
    'count_labels': 'count_labels::integer',
    'count_clusters': 'count_clusters::integer',
}) }}
from bins
