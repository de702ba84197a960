with measured as (
    select * from {{ ref('hcat', 'int_version_cells_measured') }}
),

tested as (
    select * from {{ ref('hcat', 'int_version_cells_tested') }}
),

pairs as (
    select * from {{ ref('hcat', 'int_version_pairs_listed') }}
),

final as (
    select
        -- ids
        measured.version_comparison_id,

        -- strings
        pairs.application,
        pairs.baseline_version,
        pairs.candidate_version,
        pairs.pair_kind,
        measured.metric_name,
        measured.dimension,
        measured.segment,
        measured.measurement,
        measured.family,
        tested.status,
        tested.method,
        tested.verdict,
        tested.release_answer,

        -- numerics
        measured.count_shared_queries,
        measured.count_pairs,
        measured.count_clusters,
        measured.clusters_effective,
        measured.baseline_value,
        measured.candidate_value,
        measured.difference,
        tested.difference_lower,
        tested.difference_upper,
        measured.margin,
        measured.tolerated_loss,
        measured.target_difference,
        tested.queries_needed,
        tested.replicates_needed,
        tested.p_value,
        tested.q_value,
        measured.count_regressions,
        measured.count_improvements,

        -- booleans
        pairs.is_latest
    from measured
    inner join tested on measured.version_comparison_id = tested.version_comparison_id
    inner join pairs on measured.version_pair_id = pairs.version_pair_id
)

select * from final
