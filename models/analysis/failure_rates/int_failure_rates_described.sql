-- One row per (metric that people calibrate, system, dimension, segment) with its failure rate, and whether somebody
-- decides by it: the metric has a decided threshold, and the row is a whole system or a segment with clusters enough.
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
        *,
        dimension = 'all' or (is_decided and not is_small) as is_decisive
    from described
)

select * from final
