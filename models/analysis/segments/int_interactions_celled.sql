-- One row per (interaction, cell) that contains it: its segments and, for each pair of dimensions, its pair of
-- segments. A triple is the pair of a segment and a joint segment.
{{ config(materialized='table') }}

with cell_segments as (
    select * from {{ ref('hcat', 'int_cell_segments') }}
),

interactions as (
    select * from {{ ref('hcat', 'int_interactions_numbered') }}
),

segments as (
    select * from {{ ref('hcat', 'int_segments_numbered') }}
),

pairs as (
    select * from {{ ref('hcat', 'int_cell_dimensions') }}
),

dimensions as (
    select distinct dimension, dimension_number from segments
),

dimension_pairs as (
    select
        first_dimensions.dimension_number as first_dimension_number,
        second_dimensions.dimension_number as second_dimension_number
    from pairs
    inner join dimensions as first_dimensions on pairs.first_dimension = first_dimensions.dimension
    inner join dimensions as second_dimensions on pairs.second_dimension = second_dimensions.dimension
),

numbered as (
    select
        interactions.interaction_number,
        interactions.jackknife_group,
        cell_segments.is_joint,
        segments.dimension_number,
        segments.segment_number,
        segments.count_segments
    from cell_segments
    inner join interactions on cell_segments.interaction_id = interactions.interaction_id
    inner join segments
        on
            cell_segments.dimension = segments.dimension
            and cell_segments.segment = segments.segment
),

located as (
    select interaction_number, jackknife_group, segment_number::bigint as cell_number
    from numbered
    where not is_joint
    union all
    -- pairs of segments are numbered above the segments; int_cells reads the two numbers back
    select
        first_segments.interaction_number,
        first_segments.jackknife_group,
        first_segments.segment_number::bigint * first_segments.count_segments + second_segments.segment_number
            as cell_number
    from numbered as first_segments
    inner join dimension_pairs on first_segments.dimension_number = dimension_pairs.first_dimension_number
    inner join numbered as second_segments
        on
            first_segments.interaction_number = second_segments.interaction_number
            and dimension_pairs.second_dimension_number = second_segments.dimension_number
),

final as (
    select interaction_number, jackknife_group, cell_number
    from located
    -- rows that are summed together are stored together: int_cell_sums takes half the time and memory
    order by jackknife_group, cell_number
)

select * from final
