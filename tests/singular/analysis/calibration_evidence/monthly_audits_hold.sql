{{ config(severity='warn', enabled=is_on('calibration')) }}
-- Months whose audit labels show that the calibration promises too much. To fix it, rate more answers and fit again.
select metric_name, rated_month, test, stratum, human_label, value, expected, p_value_adjusted
from {{ ref('hcat', 'fct_audit_tests') }}
where status = 'failed'
