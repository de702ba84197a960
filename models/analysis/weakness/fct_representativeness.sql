with counted as (
    select * from {{ ref('hcat', 'int_origins_counted') }}
),

compared as (
    select * from {{ ref('hcat', 'int_origins_compared') }}
),

final as (
    select
        -- ids
        md5(concat_ws('|', counted.dimension, counted.segment)) as representativeness_id,

        -- strings
        counted.dimension,
        counted.segment,
        compared.status,

        -- numerics
        counted.count_test_set,
        counted.count_production,
        counted.count_clusters_test_set,
        counted.count_clusters_production,
        compared.share_test_set,
        compared.share_production,
        compared.difference,
        compared.difference_lower,
        compared.difference_upper,
        compared.statistic,
        compared.limit_value,
        compared.degrees_of_freedom,

        -- booleans
        compared.is_untested,
        compared.is_representative
    from counted
    inner join compared on counted.dimension = compared.dimension and counted.segment = compared.segment
)

select * from final
