{{ config(severity='warn') }}
-- One row per decision that somebody must renew: an expired one still applies, a void one (other scores than those that
-- it was made on) does not.
select decision_name, metric_name, decided_threshold, decided_by, decision_status, decision_note
from {{ ref('int_threshold_decisions') }}
where decision_status <> 'in_force'
