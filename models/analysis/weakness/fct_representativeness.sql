with compared as (
    select * from {{ ref('hcat', 'int_origins_compared') }}
),

final as (
    select
        -- ids
        md5(concat_ws('|', dimension, segment)) as representativeness_id,

        -- strings
        dimension,
        segment,
        status,

        -- numerics
        count_test_set,
        count_production,
        count_clusters_test_set,
        count_clusters_production,
        share_test_set,
        share_production,
        difference,
        difference_lower,
        difference_upper,
        statistic,
        limit_value,
        degrees_of_freedom,

        -- booleans
        is_untested,
        is_representative
    from compared
)

select * from final
