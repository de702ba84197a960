with measured as (
    select * from {{ ref('hcat', 'int_drift_measured') }}
    where part = 'drift'
),

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, dimension, segment, test, window_weeks::string)) as metric_drift_id,
        metric_name,
        dimension,
        segment,
        test,

        -- strings
        status,
        detail,

        -- numerics
        window_weeks,
        count_reference,
        count_window,
        count_clusters_reference,
        count_clusters_window,
        effective_reference,
        effective_window,
        count_without_week,
        count_incomplete_week,
        statistic,
        degrees_of_freedom,
        limit_value,
        value_reference,
        value_window,
        standard_deviation_reference,
        standard_error,
        difference,
        difference_lower,
        difference_upper,
        band_lower,
        band_upper,
        p_value,
        q_value,
        alarm_level,

        -- booleans
        is_drifting,

        -- timestamps
        window_start,
        window_end,
        reference_start,
        reference_end
    from measured
)

select * from final
