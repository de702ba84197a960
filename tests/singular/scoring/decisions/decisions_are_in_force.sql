{{ config(severity='warn') }}
-- One row per decision that somebody must renew. An expired decision still applies. A void decision does not, because
-- it was made on other scores. A pair of versions is void where no answer has one of them.
with versions as (
    select distinct {{ named('application') }} as application, application_version as version
    from {{ ref('hcat', 'int_interaction_attributes') }}
)

select decision_name, metric_name, decided_threshold, decided_by, decision_status, decision_note
from {{ ref('hcat', 'int_threshold_decisions') }}
where decision_status <> 'in_force'
union all
select
    'version_pairs' as decision_name, null as metric_name, null as decided_threshold, null as decided_by,
    'void' as decision_status,
    concat_ws(' ', pairs.application, pairs.candidate_version, 'beside', pairs.baseline_version) as decision_note
from {{ seed('version_pairs') }} as pairs
left join versions as candidates
    on pairs.application = candidates.application and pairs.candidate_version = candidates.version
left join versions as baselines
    on pairs.application = baselines.application and pairs.baseline_version = baselines.version
where
    candidates.version is null or baselines.version is null
    or pairs.candidate_version = pairs.baseline_version
