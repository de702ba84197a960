{{ config(severity='warn') }}
-- One row per decision that somebody must renew. An expired decision still applies. A void decision does not, because
-- it was made on other scores.
select decision_name, metric_name, decided_threshold, decided_by, decision_status, decision_note
from {{ ref('hcat', 'int_threshold_decisions') }}
where decision_status <> 'in_force'
