-- Coverage of the labels of fold test, and where a row is what a fitted quantile promises, the test of that promise.
with coverage as (
    select * from {{ ref('int_conformal_coverage') }}
),

quantiles as (
    select * from {{ ref('int_conformal_quantiles') }}
),

joined as (
    select
        coverage.*,
        quantiles.quantile,
        quantiles.status as quantile_status,
        quantiles.check_status,
        quantiles.count_sources as count_calibration_sources,
        quantiles.expected_coverage,
        quantiles.coverage_limit,
        quantiles.p_value,
        quantiles.p_value_adjusted
    from coverage
    -- the scope that a stratification promises: all rows, a stratum, or a class of a stratum
    left join quantiles
        on
            coverage.metric_name = quantiles.metric_name
            and coverage.alpha = quantiles.alpha
            and coverage.stratification = quantiles.stratification
            and coverage.label is not distinct from quantiles.label
            and (
                (coverage.stratification = 'marginal' and coverage.scope = 'marginal')
                or (coverage.stratification = 'scale_point' and coverage.scope = 'label')
                or (
                    coverage.stratification = 'group' and coverage.scope = 'group'
                    and coverage.stratum = quantiles.stratum
                )
                or (
                    coverage.stratification = 'label_conditional' and coverage.scope = 'label_and_group'
                    and coverage.stratum = quantiles.stratum
                )
            )
),

final as (
    select
        -- ids
        md5(
            concat_ws(
                '|', metric_name, alpha, stratification, scope, coalesce(stratum, ''), coalesce(label::varchar, '')
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
        count_sources::integer as count_sources,
        count_covered::integer as count_covered,
        coverage,
        share_empty,
        share_single,
        share_several,
        share_all,
        quantile,
        count_calibration_sources::integer as count_calibration_sources,
        expected_coverage,
        coverage_limit::integer as coverage_limit,
        p_value,
        p_value_adjusted
    from joined
)

select * from final
