{{ config(severity='warn', enabled=is_on('calibration')) }}
-- Versions of applications whose answers have no calibrated probability, or one from old ratings, although the metric
-- is calibrated. Somebody must rate answers of these versions, or assess them as one class with another version.
select metric_name, version_class, calibration_status, count_labels, count_clusters, valid_until
from {{ ref('hcat', 'fct_calibration_validity') }}
where calibration_status in ('void_version_class', 'expired', 'undated')
