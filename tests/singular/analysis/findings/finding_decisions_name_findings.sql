{{ config(severity='warn') }}
-- A decision about a finding that no build has seen decides nothing: one row per such decision.
select finding_id, status, owner_role, decided_on
from {{ ref('finding_decisions') }}
where finding_id not in (select findings.finding_id from {{ ref('fct_findings') }} as findings)
