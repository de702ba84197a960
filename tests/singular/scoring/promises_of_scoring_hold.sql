-- What the decisions about metrics promise. A row names the broken promise and what breaks it.
{{ promises() }}

{% call promise('decisions_name_catalogued_metrics', []) %}
-- A decision, target or gate about a metric that is not in the catalogue would silently never apply.
-- Those of a module that is switched off, or of a further judge (metric@judge) that is not asked, may stay.
with catalogued as (
    select metric_name from {{ seed('metric_catalog') }}
    union all
    select metric_name from {{ seed('own_metrics') }}
)

select metric_name as id, 'not in the catalogue, and in threshold_decisions' as problem
from {{ seed('threshold_decisions') }}
where
    split_part(metric_name, '@', 1) not in (select catalogued.metric_name from catalogued)
    -- decisions about single sentences are no metrics
    and metric_name not in ('context_sentence_relevance', 'sentence_support', 'sentence_contradiction')
union all
select metric_name as id, 'not in the catalogue, and in calibration_targets' as problem
from {{ seed('calibration_targets') }}
where split_part(metric_name, '@', 1) not in (select catalogued.metric_name from catalogued)
union all
select metric_name as id, 'not in the catalogue, and in threshold_gates' as problem
from {{ seed('threshold_gates') }}
where
    metric_name is not null
    and split_part(metric_name, '@', 1) not in (select catalogued.metric_name from catalogued)
union all
-- one metric has one decision, with a row each for the classifiers on whose scores it was made
select metric_name as id, 'two decisions in threshold_decisions' as problem
from {{ seed('threshold_decisions') }}
group by metric_name
having count(distinct decision_name) > 1 or (count(*) > 1 and count(distinct classifier_sha256) < count(*))
{% endcall %}

{% call promise('fused_prior_is_complete', ['groundedness_prior']) %}
-- A classifier needs each signal exactly once and every scale. Otherwise it would get other probabilities than those
-- fitted.
{%- set features = ['intercept'] + fused_signals() %}
with counted as (
    select
        classifier_name,
        count(*) as count_rows,
        count(distinct case when feature in ('{{ features | join("', '") }}') then feature end) as count_features,
        count(case when feature <> 'intercept' and (center is null or coalesce(scale, 0) <= 0) then 1 end) as count_open
    from {{ seed('groundedness_prior') }}
    group by classifier_name
)

select classifier_name as id, 'a signal that is missing, unknown, twice, or without its scale' as problem
from counted
where count_features < {{ features | length }} or count_rows > count_features or count_open > 0
{% endcall %}
