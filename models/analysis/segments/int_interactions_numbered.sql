-- One row per interaction, with a whole number as its id, and with its cluster and jackknife group. Sums over millions
-- of rows are several times faster over numbers than over texts. The numbers follow the order of the jackknife groups.
{{ config(materialized='table') }}

with segments as (
    select *
    from {{ ref('hcat', 'int_interaction_segments') }}
    where dimension = 'all'
),

clusters as (
    select * from {{ ref('hcat', 'int_clusters_bucketed') }}
),

final as (
    select
        segments.interaction_id,
        (row_number() over (order by clusters.jackknife_group, segments.interaction_id))::integer as interaction_number,
        clusters.cluster_number,
        clusters.jackknife_group,
        clusters.half
    from segments
    inner join clusters on segments.cluster_id = clusters.cluster_id
)

select * from final
