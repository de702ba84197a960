{{ config(enabled=is_on('calibration')) }}
-- What labels, calibrators and thresholds promise. A row names the broken promise and what breaks it.
{{ promises() }}

{% call promise('ratings_are_complete', ['fct_ratings']) %}
-- Every accepted rating has its row, and every label rests on at least one of them.
with ratings as (
    select count(*) as count_rows, 'ratings' as what from {{ ref('hcat', 'stg_ratings') }}
    union all
    select count(*) as count_rows, 'labels' as what from {{ ref('hcat', 'int_ratings_adjudicated') }}
    where label is not null
),

shown as (
    select count(*) as count_rows, 'ratings' as what from {{ ref('hcat', 'fct_ratings') }}
    union all
    select count(distinct interaction_id || '|' || criterion) as count_rows, 'labels' as what
    from {{ ref('hcat', 'fct_ratings') }}
    where human_label is not null
)

select
    ratings.what as id,
    concat_ws(' ', cast(ratings.count_rows as string), 'rows,', cast(shown.count_rows as string), 'shown') as problem
from ratings
inner join shown on ratings.what = shown.what
where ratings.count_rows <> shown.count_rows
{% endcall %}

{% call promise('calibration_is_complete', ['fct_calibrators', 'fct_evaluations']) %}
-- Targets without a status of their calibrator, measured scores with a calibrator but no probability, and those with a
-- probability but no calibrator.
with targets as (
    select metric_name from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'targets'
),

chosen as (
    select metric_name from {{ ref('hcat', 'fct_calibrators') }}
    where is_chosen and segment = 'all'
),

unsaid as (
    select metric_name as id, 'no row in fct_calibrators' as problem
    from targets
    where
        metric_name not in (
            select fct_calibrators.metric_name from {{ ref('hcat', 'fct_calibrators') }} as fct_calibrators
        )
),

unequal as (
    select
        concat_ws(' ', evaluations.metric_name, evaluations.interaction_id) as id,
        'probability and calibrator disagree' as problem
    from {{ ref('hcat', 'fct_evaluations') }} as evaluations
    left join chosen on evaluations.metric_name = chosen.metric_name
    where
        (
            evaluations.raw_score is not null
            and evaluations.score_status <> 'refused'  -- given by a rule
            and chosen.metric_name is not null
            and evaluations.calibration_status in ('in_force', 'expired', 'undated')
        )
        <> (evaluations.calibrated_probability is not null)
        or (evaluations.calibrated_probability is null) <> (evaluations.prediction_set is null)
)

select * from unsaid
union all
select * from unequal
{% endcall %}

{% call promise('labelled_clusters_are_left_out', ['int_labels_fitted']) %}
-- Audit labels whose own cluster would decide the set of its interactions, because no limit leaves the cluster out.
with labels as (
    select distinct metric_name, cluster_id, label from {{ ref('hcat', 'int_target_evaluations') }}
    where is_audit and raw_score is not null
),

conformalized as (
    select distinct metric_name from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'quantiles' and stratification = 'label_conditional' and status <> 'not_calibrated'
),

left_out as (
    select * from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'limits'
)

select
    concat_ws(' ', labels.metric_name, labels.cluster_id, 'label', cast(labels.label as string)) as id,
    'no limit leaves the cluster out' as problem
from labels
inner join conformalized on labels.metric_name = conformalized.metric_name
where
    not exists (
        select 1 from left_out
        where
            left_out.metric_name = labels.metric_name
            and left_out.cluster_id = labels.cluster_id
            and left_out.label = labels.label
    )
{% endcall %}

{% call promise('thresholds_are_complete', ['fct_metric_thresholds']) %}
-- Every metric that people calibrate has one row per method and risk appetite, whatever its labels are, and one more
-- where a threshold is in force.
with methods as (
    select {{ explode(array_of([
        "'roc_youden'", "'roc_cost'", "'logistic'", "'polynomial_logistic'", "'kde_crossing'", "'conformal'",
        "'normal_floor'", "'normal_floor_fold_mean'", "'normal_floor_fold_strictest'", "'pass_quantile'", "'decided'"
    ])) }} as method
),

decisions as (
    select metric_name from {{ ref('hcat', 'int_threshold_decisions') }}
    where threshold is not null
),

thresholds as (
    select metric_name, method, risk_appetite from {{ ref('hcat', 'fct_metric_thresholds') }}
)

select
    concat_ws(' ', targets.metric_name, methods.method, appetites.risk_appetite) as id,
    concat_ws(' ', cast(count(thresholds.metric_name) as string), 'rows') as problem
from {{ seed('calibration_targets') }} as targets
inner join {{ ref('hcat', 'int_metric_catalog') }} as metrics on targets.metric_name = metrics.metric_name
cross join methods
cross join {{ seed('risk_appetites') }} as appetites
left join thresholds
    on
        targets.metric_name = thresholds.metric_name
        and methods.method = thresholds.method
        and appetites.risk_appetite = thresholds.risk_appetite
group by targets.metric_name, methods.method, appetites.risk_appetite
having
    count(thresholds.metric_name)
    <> if(methods.method <> 'decided' or targets.metric_name in (select metric_name from decisions), 1, 0)
{% endcall %}

{% call promise('score_bands_hold_every_label', ['fct_score_bands']) %}
-- Metrics whose bands do not add up to the labels, or with an empty band.
with expected as (
    select metric_name, count(*) as count_labels, count(*) filter (where label = 0) as count_failed
    from {{ ref('hcat', 'int_target_evaluations') }}
    where label is not null and raw_score is not null
    group by metric_name
),

found as (
    select metric_name, sum(count_labels) as count_labels, sum(count_failed) as count_failed
    from {{ ref('hcat', 'fct_score_bands') }}
    group by metric_name
)

{{ rows_that_differ('metric_name') }}
{% endcall %}
