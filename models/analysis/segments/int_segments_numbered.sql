-- One row per (dimension, segment) that contains an interaction, with a whole number as its id. Joint dimensions count.
{{ config(materialized='table') }}

with segments as (
    select * from {{ ref('hcat', 'int_cell_segments') }}
),

seen as (
    select distinct dimension, segment from segments
),

final as (
    select
        dimension,
        segment,
        (row_number() over (order by dimension, segment))::integer as segment_number,
        (dense_rank() over (order by dimension))::integer as dimension_number,
        (count(*) over ())::integer as count_segments
    from seen
)

select * from final
