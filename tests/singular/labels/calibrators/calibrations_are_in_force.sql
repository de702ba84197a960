{{ config(severity='warn') }}
-- Versions of applications whose answers have no calibrated probability, or one that rests on old ratings, although the
-- metric is calibrated: somebody must rate answers of these versions, or assess them as one class with another.
select metric_name, version_class, calibration_status, count_labels, count_clusters, valid_until
from {{ ref('fct_calibration_validity') }}
where calibration_status in ('void_version_class', 'expired')
