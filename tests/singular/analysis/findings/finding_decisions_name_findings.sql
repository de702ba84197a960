{{ config(severity='warn', enabled=is_on('findings')) }}
-- One row per decision about a finding that no build has seen. Such a decision has no effect.
select finding_id, status, owner_role, decided_on
from {{ seed('finding_decisions') }}
where finding_id not in (select findings.finding_id from {{ ref('hcat', 'fct_findings') }} as findings)
