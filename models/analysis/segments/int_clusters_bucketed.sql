-- One row per cluster, with its half and the jackknife group with which it is left out. Few clusters are left out one
-- by one; many are left out in buckets, which bounds the work. A jackknife group lies in one half.
{{ config(materialized='table') }}

with segments as (
    select * from {{ ref('hcat', 'int_interaction_segments') }}
),

clusters as (
    select distinct cluster_id from segments
),

hashed as (
    select
        cluster_id,
        {{ share_of_hash("'hcat half|' || cluster_id") }} as position,
        count(*) over () as count_clusters
    from clusters
),

halved as (
    select
        cluster_id,
        case when position + position < 1 then 'first' else 'second' end as half,
        case
            when count_clusters <= {{ var('hcat_jackknife_clusters') }} then cluster_id
            else floor(position * {{ var('hcat_jackknife_groups') }})::integer::string
        end as bucket
    from hashed
),

final as (
    select
        cluster_id,
        half,
        (row_number() over (order by cluster_id))::integer as cluster_number,
        (dense_rank() over (order by half, bucket))::integer as jackknife_group
    from halved
)

select * from final
