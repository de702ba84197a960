with evaluations as (
    select * from {{ ref('int_primary_evaluations') }}
),

segments as (
    select * from {{ ref('int_interaction_segments') }}
),

scores as (
    select evaluations.*, segments.source_group, segments.dimension, segments.segment
    from evaluations
    inner join segments on evaluations.interaction_id = segments.interaction_id
),

{{ weakness_statistics(['metric_name', 'dimension', 'segment']) }},

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, dimension, segment)) as marginal_weakness_id,
        metric_name,
        dimension,
        segment,

        -- strings
        failure_status,

        -- numerics
        count_interactions::bigint as count_interactions,
        count_scored::bigint as count_scored,
        count_sources::bigint as count_sources,
        scored_effective::double as count_sources_effective,
        mean_score::double as mean_score,
        mean_score_lower::double as mean_score_lower,
        mean_score_upper::double as mean_score_upper,
        standard_deviation::double as standard_deviation,
        quantile_05::double as quantile_05,
        quantile_25::double as quantile_25,
        quantile_50::double as quantile_50,
        quantile_75::double as quantile_75,
        quantile_95::double as quantile_95,
        threshold::double as threshold,
        count_failing::bigint as count_failing,
        share_failing::double as share_failing,
        share_failing_lower::double as share_failing_lower,
        share_failing_upper::double as share_failing_upper,
        share_failing_of_all::double as share_failing_of_all,

        -- booleans
        is_small
    from measured
)

select * from final
