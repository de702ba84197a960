-- One row per cell that contains an interaction, with its dimensions, its segments and its partition. The rest of a
-- cell is the rest of its partition. Interactions without a value in a dimension are in neither.
{{ config(materialized='table') }}

with interactions as (
    select * from {{ ref('hcat', 'int_interactions_celled') }}
),

segments as (
    select * from {{ ref('hcat', 'int_segments_numbered') }}
),

seen as (
    select distinct cell_number from interactions
),

counted as (
    select max(count_segments) as count_segments from segments
),

read_back as (
    select
        seen.cell_number,
        case
            when seen.cell_number > counted.count_segments
                then floor((seen.cell_number - 1) / counted.count_segments)::bigint
            else seen.cell_number
        end as first_segment_number,
        case
            when seen.cell_number > counted.count_segments then (seen.cell_number - 1) % counted.count_segments + 1
        end as second_segment_number
    from seen
    cross join counted
),

final as (
    select
        read_back.cell_number,
        (
            dense_rank() over (order by first_segments.dimension_number, coalesce(second_segments.dimension_number, 0))
        )::integer as partition_number,
        first_segments.dimension as first_dimension,
        first_segments.segment as first_segment,
        second_segments.dimension as second_dimension,
        second_segments.segment as second_segment
    from read_back
    inner join segments as first_segments on read_back.first_segment_number = first_segments.segment_number
    left join segments as second_segments on read_back.second_segment_number = second_segments.segment_number
)

select * from final
