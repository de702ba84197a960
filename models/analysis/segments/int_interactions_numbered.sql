-- One row per interaction: a whole number in place of its id, with its source and jackknife group. Sums over millions
-- of rows are several times faster over numbers than over texts; numbers follow the jackknife groups.
{{ config(materialized='table') }}

with segments as (
    select *
    from {{ ref('int_interaction_segments') }}
    where dimension = 'all'
),

sources as (
    select * from {{ ref('int_source_groups_bucketed') }}
),

final as (
    select
        segments.interaction_id,
        (row_number() over (order by sources.jackknife_group, segments.interaction_id))::integer as interaction_number,
        sources.source_number,
        sources.jackknife_group,
        sources.half
    from segments
    inner join sources on segments.source_group = sources.source_group
)

select * from final
