-- One row per (interaction, dimension) that is monitored over time: all dimensions except the week itself.
{{ config(materialized='view') }}
with segments as (
    select * from {{ ref('hcat', 'int_interaction_segments') }}
),

week_dimensions as (
    select dimension
    from {{ ref('hcat', 'int_analysis_dimensions') }}
    where source = 'column' and field = 'asked_week'
),

final as (
    select
        segments.interaction_id,
        segments.dimension,
        segments.segment
    from segments
    left join week_dimensions on segments.dimension = week_dimensions.dimension
    where week_dimensions.dimension is null
)

select * from final
