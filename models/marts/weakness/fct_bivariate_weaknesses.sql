with evaluations as (
    select * from {{ ref('int_primary_evaluations') }}
),

segments as (
    select * from {{ ref('int_interaction_segments') }}
),

pairs as (
    select * from {{ ref('analysis_dimension_pairs') }}
),

scores as (
    select
        evaluations.*,
        first_segments.source_group,
        pairs.first_dimension,
        first_segments.segment as first_segment,
        pairs.second_dimension,
        second_segments.segment as second_segment
    from evaluations
    inner join segments as first_segments on evaluations.interaction_id = first_segments.interaction_id
    inner join pairs on first_segments.dimension = pairs.first_dimension
    inner join segments as second_segments
        on
            evaluations.interaction_id = second_segments.interaction_id
            and pairs.second_dimension = second_segments.dimension
),

{{ weakness_statistics(['metric_name', 'first_dimension', 'first_segment', 'second_dimension', 'second_segment']) }},

final as (
    select
        -- ids
        md5(concat_ws('|', metric_name, first_dimension, first_segment, second_dimension, second_segment))
            as bivariate_weakness_id,
        metric_name,
        first_dimension,
        first_segment,
        second_dimension,
        second_segment,

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
