{{ config(enabled=is_on('findings')) }}
-- The register contains every weak cell of the build as weak, the variations of each were tested, and no other cell is
-- included.
with weak as (
    select cell_id
    from {{ ref('hcat', 'int_weaknesses_tested') }}
    where is_weak
),

findings as (
    select finding_id as cell_id
    from {{ ref('hcat', 'fct_findings') }}
    where retest_result = 'weak'
),

tried as (
    select finding_id as cell_id
    from {{ ref('hcat', 'fct_finding_sensitivity') }}
    where variation = 'as_declared'
)

select coalesce(weak.cell_id, findings.cell_id, tried.cell_id) as cell_id
from weak
full outer join findings on weak.cell_id = findings.cell_id
full outer join tried on coalesce(weak.cell_id, findings.cell_id) = tried.cell_id
where weak.cell_id is null or findings.cell_id is null or tried.cell_id is null
