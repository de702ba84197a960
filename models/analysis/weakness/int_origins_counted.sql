-- Pairs of dimensions are written as `first x second`.
{{ config(materialized='table') }}
{#- the seed analysis_dimension_pairs gives their pairs -#}
{%- set listed = "'topic', 'query_type', 'language', 'customer_group', 'asked_week'" %}

with -- the test set of the candidate, and what people asked it; until they do, what they asked the versions before it
origins as (
    select
        interaction_id, cluster_id, {{ named('application') }} as application, population as origin,
        sampling_weight as weight
    from {{ ref('hcat', 'int_interaction_attributes') }}
    where population = 'production' or (population = 'test_set' and version_role = 'candidate')
    qualify rank() over (partition by application, population order by version_role <> 'candidate') = 1
),

placed as (
    select
        cells.interaction_id,
        concat_ws(' x ', cells.first_dimension, cells.second_dimension) as dimension,
        concat_ws(' x ', cells.first_segment, cells.second_segment) as segment
    from {{ ref('hcat', 'int_interaction_cells') }} as cells
    left join {{ seed('analysis_dimension_pairs') }} as pairs
        on
            cells.first_dimension = pairs.first_dimension and cells.second_dimension = pairs.second_dimension
            and pairs.third_dimension is null
    where
        cells.first_dimension in ({{ listed }})
        and (cells.second_dimension is null or (pairs.second_dimension in ({{ listed }})))
),

by_cluster as (
    select
        origins.application, placed.dimension, placed.segment, origins.origin, origins.cluster_id,
        count(*) as count_interactions, {{ exact_sum('origins.weight') }} as weight
    from placed
    inner join origins on placed.interaction_id = origins.interaction_id
    group by origins.application, placed.dimension, placed.segment, origins.origin, origins.cluster_id
),

clusters_of_dimensions as (
    select application, dimension, origin, cluster_id, {{ exact_sum('weight') }} as weight
    from by_cluster
    group by application, dimension, origin, cluster_id
),

-- siblings do not count as independent: Kish's effective number of interactions over clusters
effective as (
    select
        application, dimension, origin,
        {{ exact_sum('weight') }} as weight,
        count(*) as count_clusters,
        power({{ exact_sum('weight') }}, 2) / ({{ exact_sum('weight * weight') }}) as clusters_effective
    from clusters_of_dimensions
    group by application, dimension, origin
),

counted as (
    select
        {%- for origin in ['test_set', 'production'] %}
        sum(case when origin = '{{ origin }}' then count_interactions else 0 end)::bigint as count_{{ origin }},
        coalesce({{ exact_sum("case when origin = '" ~ origin ~ "' then weight end") }}, 0) as weight_{{ origin }},
        count(case when origin = '{{ origin }}' then 1 end) as count_clusters_{{ origin }},
        {%- endfor %}
        application, dimension, segment
    from by_cluster
    group by application, dimension, segment
),

final as (
    select
        counted.application, counted.dimension, counted.segment, counted.count_test_set, counted.count_production,
        counted.count_clusters_test_set, counted.count_clusters_production,
        counted.weight_test_set / test_sets.weight as share_test_set,
        counted.weight_production / productions.weight as share_production,
        coalesce(test_sets.count_clusters, 0) as total_clusters_test_set,
        coalesce(productions.count_clusters, 0) as total_clusters_production,
        test_sets.clusters_effective as effective_test_set,
        productions.clusters_effective as effective_production
    from counted
    left join effective as test_sets
        on
            counted.application = test_sets.application and counted.dimension = test_sets.dimension
            and test_sets.origin = 'test_set'
    left join effective as productions
        on
            counted.application = productions.application and counted.dimension = productions.dimension
            and productions.origin = 'production'
)

select * from final
