-- Pairs of dimensions are written as `first x second`.
{{ config(materialized='table') }}
{#- the seed analysis_dimension_pairs gives their pairs -#}
{%- set listed = "'topic', 'query_type', 'language', 'customer_group', 'asked_week'" %}

with -- a variant was prepared too
origins as (
    select interaction_id, cluster_id, if(population = 'production', 'production', 'test_set') as origin
    from {{ ref('hcat', 'int_interactions') }}
),

pairs as (
    select * from {{ seed('analysis_dimension_pairs') }}
    where third_dimension is null
),

placed as (
    select
        cells.interaction_id,
        concat_ws(' x ', cells.first_dimension, cells.second_dimension) as dimension,
        concat_ws(' x ', cells.first_segment, cells.second_segment) as segment
    from {{ ref('hcat', 'int_interaction_cells') }} as cells
    left join pairs on cells.first_dimension = pairs.first_dimension and cells.second_dimension = pairs.second_dimension
    where
        cells.first_dimension in ({{ listed }})
        and (cells.second_dimension is null or (pairs.second_dimension in ({{ listed }})))
),

by_cluster as (
    select placed.dimension, placed.segment, origins.origin, origins.cluster_id, count(*) as count_interactions
    from placed
    inner join origins on placed.interaction_id = origins.interaction_id
    group by placed.dimension, placed.segment, origins.origin, origins.cluster_id
),

clusters_of_dimensions as (
    select dimension, origin, cluster_id, sum(count_interactions) as count_interactions
    from by_cluster
    group by dimension, origin, cluster_id
),

-- siblings do not count as independent: Kish's effective number of interactions over clusters
effective as (
    select
        dimension, origin,
        sum(count_interactions) as count_interactions,
        count(*) as count_clusters,
        sum(count_interactions) * sum(count_interactions)
        / sum(count_interactions * count_interactions)::double as clusters_effective
    from clusters_of_dimensions
    group by dimension, origin
),

counted as (
    select
        dimension, segment,
        sum(case when origin = 'test_set' then count_interactions else 0 end) as count_test_set,
        sum(case when origin = 'production' then count_interactions else 0 end) as count_production,
        count(case when origin = 'test_set' then 1 end) as count_clusters_test_set,
        count(case when origin = 'production' then 1 end) as count_clusters_production
    from by_cluster
    group by dimension, segment
),

final as (
    select
        counted.dimension, counted.segment,
        counted.count_test_set::bigint as count_test_set,
        counted.count_production::bigint as count_production,
        counted.count_clusters_test_set, counted.count_clusters_production,
        coalesce(test_sets.count_interactions, 0)::bigint as total_test_set,
        coalesce(productions.count_interactions, 0)::bigint as total_production,
        coalesce(test_sets.count_clusters, 0) as total_clusters_test_set,
        coalesce(productions.count_clusters, 0) as total_clusters_production,
        test_sets.clusters_effective as effective_test_set,
        productions.clusters_effective as effective_production
    from counted
    left join effective as test_sets on counted.dimension = test_sets.dimension and test_sets.origin = 'test_set'
    left join effective as productions
        on counted.dimension = productions.dimension and productions.origin = 'production'
)

select * from final
