with measured as (
    select * from {{ ref('hcat', 'int_robustness_measured') }}
    where part = 'variants'
),

final as (
    select
        -- ids
        md5(concat_ws(chr(31), system, variant_type, variant_meaning, metric_name)) as robustness_variant_id,

        -- strings
        system,
        variant_type,
        variant_meaning,
        metric_name,
        change_status,
        flip_status,

        -- numerics
        count_pairs,
        count_scored_pairs,
        count_decided_pairs,
        count_clusters,
        count_broken,
        count_mended,
        mean_change,
        mean_change_lower,
        mean_change_upper,
        share_flipped,
        share_flipped_lower,
        share_flipped_upper,
        share_broken,
        share_broken_lower,
        share_broken_upper
    from measured
)

select * from final
