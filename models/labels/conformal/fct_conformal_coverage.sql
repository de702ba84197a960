-- Where a quantile makes a promise about a row, the row also shows that quantile and what it promises.
with coverage as (
    select * from {{ ref('hcat', 'int_labels_measured') }}
    where part = 'coverage'
),

quantiles as (
    select * from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'quantiles'
),

-- What the promise of a stratification covers: all rows, a class, or a class of a stratum.
promises as (
    select
        *,
        case stratification
            when 'marginal' then 'marginal'
            when 'label_conditional' then 'label_and_group'
            when 'scale_point' then 'label'
        end as scope,
        if(stratification in ('marginal', 'scale_point'), null, stratum) as promised_stratum
    from quantiles
    where status <> 'not_calibrated'
),

joined as (
    select
        coverage.*,
        promises.quantile,
        promises.score_limit,
        promises.status as quantile_status,
        promises.count_clusters as count_calibration_clusters,
        promises.expected_coverage
    from coverage
    left join promises
        on
            coverage.metric_name = promises.metric_name
            and coverage.alpha = promises.alpha
            and coverage.stratification = promises.stratification
            and coverage.scope = promises.scope
            and coverage.stratum is not distinct from promises.promised_stratum
            and coverage.label is not distinct from promises.label
)

select {{ columns_of_contract({
    'conformal_coverage_id': "md5(concat_ws('|', metric_name, alpha, stratification, scope, coalesce(stratum, ''),"
        ~ " coalesce(label::string, '')))",
    'human_label': 'label::integer',
    'count_labels': 'count_labels::integer',
    'count_clusters': 'count_clusters::integer',
    'count_covered': 'count_covered::integer',
    'count_calibration_clusters': 'count_calibration_clusters::integer',
}) }}
from joined
