-- A query pairs only inside one segment, so a dimension in which the versions differ (system, week, a changed answer
-- length) gives no pairs.

with queries as (
    select *, count(*) over (partition by application, version, query_key) as count_interactions
    from {{ ref('hcat', 'int_version_queries_keyed') }}
),

sides as (
    select
        queries.application, queries.version, queries.query_key, segments.dimension,
        min(segments.segment) as segment,
        max(segments.segment) as last_segment,
        count(*) as count_segmented,
        max(queries.count_interactions) as count_interactions
    from queries
    inner join {{ ref('hcat', 'int_interaction_segments') }} as segments
        on queries.interaction_id = segments.interaction_id
    group by queries.application, queries.version, queries.query_key, segments.dimension
),

uniform as (
    select * from sides
    where segment = last_segment and count_segmented = count_interactions
),

final as (
    select pairs.version_pair_id, baselines.query_key, baselines.dimension, baselines.segment
    from {{ ref('hcat', 'int_version_pairs_listed') }} as pairs
    inner join uniform as baselines
        on pairs.application = baselines.application and pairs.baseline_version = baselines.version
    inner join uniform as candidates
        on
            pairs.application = candidates.application
            and pairs.candidate_version = candidates.version
            and baselines.query_key = candidates.query_key
            and baselines.dimension = candidates.dimension
            and baselines.segment = candidates.segment
)

select * from final
