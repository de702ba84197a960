-- Readers add up by `cell_key`, a hash of the names of the cell.
{{ config(materialized='table') }}

with segments as (
    select * from {{ ref('hcat', 'int_cell_segments') }}
),

buckets as (
    select * from {{ ref('hcat', 'int_clusters_bucketed') }}
),

groups as (
    select interactions.interaction_id, clusters.jackknife_group, documents.jackknife_group as second_group
    from {{ ref('hcat', 'fct_interactions') }} as interactions
    inner join buckets as clusters on interactions.cluster_id = clusters.cluster_id and not clusters.is_second
    inner join buckets as documents
        on interactions.second_cluster_id = documents.cluster_id and documents.is_second
),

pairs as (
    select distinct
        first_dimension,
        case when third_dimension is null then second_dimension else second_dimension || ' x ' || third_dimension end
            as second_dimension
    from {{ seed('analysis_dimension_pairs') }}
    where second_dimension is not null
),

located as (
    select
        interaction_id, cluster_id,
        dimension as first_dimension,
        segment as first_segment,
        null::string as second_dimension,
        null::string as second_segment
    from segments
    where not is_joint
    union all
    select
        first_segments.interaction_id, first_segments.cluster_id,
        first_segments.dimension as first_dimension,
        first_segments.segment as first_segment,
        second_segments.dimension as second_dimension,
        second_segments.segment as second_segment
    from segments as first_segments
    inner join pairs on first_segments.dimension = pairs.first_dimension
    inner join segments as second_segments
        on
            first_segments.interaction_id = second_segments.interaction_id
            and pairs.second_dimension = second_segments.dimension
),

final as (
    select
        located.interaction_id, located.cluster_id, groups.jackknife_group, groups.second_group,
        located.first_dimension,
        located.first_segment, located.second_dimension, located.second_segment,
        {{ hash_number(
            'located.first_dimension, located.first_segment, located.second_dimension, located.second_segment'
        ) }} as cell_key
    from located
    inner join groups on located.interaction_id = groups.interaction_id
)

select * from final
