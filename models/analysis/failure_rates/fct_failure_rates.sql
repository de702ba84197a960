-- What somebody decides by: whole systems, and the segments with clusters enough of metrics with a decided threshold.
with estimated as (
    select * from {{ ref('hcat', 'int_failure_rates_estimated') }}
),

decided as (
    select distinct metric_name from {{ ref('hcat', 'int_threshold_decisions') }}
    where threshold is not null
),

described as (
    select
        estimated.*,
        md5(concat_ws('|', estimated.metric_name, estimated.system, estimated.dimension, estimated.segment))
            as failure_rate_id,
        estimated.count_clusters < {{ var('hcat_minimum_segment_clusters') }} as is_small,
        decided.metric_name is not null as is_decided
    from estimated
    left join decided on estimated.metric_name = decided.metric_name
),

final as (
    select
        -- ids
        failure_rate_id,
        metric_name,
        system,
        dimension,
        segment,

        -- strings
        criterion,
        'process' as target,
        status,
        predictor_status,
        message,
        statement,
        labels_only_method,
        prediction_powered_method,

        -- numerics
        count_interactions,
        count_scored,
        count_labels,
        count_failures,
        count_clusters,
        effective_n,
        failure_rate,
        failure_rate_lower,
        failure_rate_upper,
        labels_only_rate,
        labels_only_lower,
        labels_only_upper,
        labels_only_standard_error,
        prediction_powered_rate,
        prediction_powered_lower,
        prediction_powered_upper,
        prediction_powered_standard_error,
        power_tuning,
        width_ratio,

        -- booleans
        is_small
    from described
    where dimension = 'all' or (is_decided and not is_small)
)

select * from final
