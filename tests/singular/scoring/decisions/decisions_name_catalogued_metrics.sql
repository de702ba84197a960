-- A decision, target or gate about a metric that is not in the catalogue would silently never apply.
-- Those of a module that is switched off may stay.
with catalogued as (
    select metric_name from {{ seed('metric_catalog') }}
    union all
    select metric_name from {{ seed('own_metrics') }}
)

select 'threshold_decisions' as seed, metric_name from {{ seed('threshold_decisions') }}
where
    metric_name not in (select catalogued.metric_name from catalogued)
    -- decisions about single sentences are no metrics
    and metric_name not in ('context_sentence_relevance', 'sentence_support', 'sentence_contradiction')
union all
select 'calibration_targets' as seed, metric_name from {{ seed('calibration_targets') }}
where metric_name not in (select catalogued.metric_name from catalogued)
union all
select 'threshold_gates' as seed, metric_name from {{ seed('threshold_gates') }}
where
    metric_name is not null
    and metric_name not in (select catalogued.metric_name from catalogued)
union all
-- one metric has one decision, with a row each for the classifiers on whose scores it was made
select 'threshold_decisions (two decisions for one metric)' as seed, metric_name
from {{ seed('threshold_decisions') }}
group by metric_name
having count(distinct decision_name) > 1 or (count(*) > 1 and count(distinct classifier_sha256) < count(*))
