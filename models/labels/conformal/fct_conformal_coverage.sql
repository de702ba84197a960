-- Coverage of the labels of fold test. Where a quantile makes a promise about a row, the row also tests that promise.
with coverage as (
    select * from {{ ref('int_conformal_coverage') }}
),

quantiles as (
    select * from {{ ref('int_conformal_quantiles') }}
),

-- What the promise of a stratification covers: all rows, a stratum, or a class of a stratum.
promises as (
    select
        *,
        case stratification
            when 'marginal' then 'marginal'
            when 'group' then 'group'
            when 'label_conditional' then 'label_and_group'
            when 'scale_point' then 'label'
        end as scope,
        if(stratification in ('marginal', 'scale_point'), null, stratum) as promised_stratum
    from quantiles
    where check_status is not null
),

joined as (
    select
        coverage.*,
        promises.quantile,
        promises.status as quantile_status,
        promises.check_status,
        promises.count_clusters as count_calibration_clusters,
        promises.expected_coverage,
        promises.coverage_limit,
        promises.p_value,
        promises.p_value_adjusted
    from coverage
    left join promises
        on
            coverage.metric_name = promises.metric_name
            and coverage.alpha = promises.alpha
            and coverage.stratification = promises.stratification
            and coverage.scope = promises.scope
            and coverage.stratum is not distinct from promises.promised_stratum
            and coverage.label is not distinct from promises.label
),

-- Strata that are too small for a quantile of their own share one. Its promise covers all of them together.
merged as (
    select
        metric_name,
        criterion,
        stratification,
        scope,
        stratum,
        if(count_test_clusters > 0, 'measured', 'no_labels') as status,
        alpha,
        label,
        null::bigint as count_labels,
        count_test_clusters as count_clusters,
        count_covered,
        count_covered / nullif(count_test_clusters, 0)::double as coverage,
        null::double as share_empty,
        null::double as share_single,
        null::double as share_several,
        null::double as share_all,
        quantile,
        status as quantile_status,
        check_status,
        count_clusters as count_calibration_clusters,
        expected_coverage,
        coverage_limit,
        p_value,
        p_value_adjusted
    from promises
    where promised_stratum = 'other'
),

everything as (
    -- These columns keep the order of the columns of `merged`.
    select
        metric_name,
        criterion,
        stratification,
        scope,
        stratum,
        status,
        alpha,
        label,
        count_labels,
        count_clusters,
        count_covered,
        coverage,
        share_empty,
        share_single,
        share_several,
        share_all,
        quantile,
        quantile_status,
        check_status,
        count_calibration_clusters,
        expected_coverage,
        coverage_limit,
        p_value,
        p_value_adjusted
    from joined
    union all
    select * from merged
),

final as (
    select
        -- ids
        md5(
            concat_ws(
                '|', metric_name, alpha, stratification, scope, coalesce(stratum, ''), coalesce(label::string, '')
            )
        ) as conformal_coverage_id,

        -- strings
        metric_name,
        criterion,
        stratification,
        scope,
        stratum,
        status,
        quantile_status,
        check_status,

        -- numerics
        alpha,
        label::integer as label,
        count_labels::integer as count_labels,
        count_clusters::integer as count_clusters,
        count_covered::integer as count_covered,
        coverage,
        share_empty,
        share_single,
        share_several,
        share_all,
        quantile,
        count_calibration_clusters::integer as count_calibration_clusters,
        expected_coverage,
        coverage_limit::integer as coverage_limit,
        p_value,
        p_value_adjusted
    from everything
)

select * from final
