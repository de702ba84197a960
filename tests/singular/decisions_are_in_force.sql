{{ config(severity='warn') }}
-- A decision past its last day still applies, and somebody must renew it: one row per expired decision, by name.
select decision_name, metric_name, threshold, decided_by, valid_until
from {{ ref('threshold_decisions') }}
where valid_until < current_date
