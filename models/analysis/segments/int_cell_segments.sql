with segments as (
    select * from {{ ref('hcat', 'int_interaction_segments') }}
),

joint_dimensions as (
    select distinct second_dimension, third_dimension
    from {{ seed('analysis_dimension_pairs') }}
    where third_dimension is not null
),

final as (
    select interaction_id, cluster_id, dimension, segment, false as is_joint
    from segments
    union all
    select
        second_segments.interaction_id, second_segments.cluster_id,
        joint_dimensions.second_dimension || ' x ' || joint_dimensions.third_dimension as dimension,
        second_segments.segment || ' x ' || third_segments.segment as segment,
        true as is_joint
    from joint_dimensions
    inner join segments as second_segments on joint_dimensions.second_dimension = second_segments.dimension
    inner join segments as third_segments
        on
            joint_dimensions.third_dimension = third_segments.dimension
            and second_segments.interaction_id = third_segments.interaction_id
)

select * from final
