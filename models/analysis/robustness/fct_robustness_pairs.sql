with pairs as (
    select * from {{ ref('hcat', 'int_variant_pairs') }}
),

final as (
    select
        -- ids
        robustness_pair_id,
        parent_query_id,
        variant_query_id,
        cluster_id,

        -- strings
        system,
        variant_type,
        variant_meaning,
        metric_name,
        outcome,

        -- numerics
        parent_score,
        variant_score,
        score_change,

        -- booleans
        is_parent_right,
        is_variant_right
    from pairs
)

select * from final
