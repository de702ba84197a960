{{ config(severity='warn') }}
-- Months whose audit labels say that the calibration promises too much: rate more, and fit again.
select metric_name, rated_month, test, stratum, label, value, expected, p_value_adjusted
from {{ ref('fct_audit_tests') }}
where status = 'failed'
