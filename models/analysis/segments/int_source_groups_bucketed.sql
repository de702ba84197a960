-- One row per source group: its half, and the jackknife group with which it leaves. Few sources leave one by one, many
-- in buckets, so that the work is bounded; a jackknife group lies in one half.
{{ config(materialized='table') }}

with segments as (
    select * from {{ ref('int_interaction_segments') }}
),

sources as (
    select distinct source_group from segments
),

hashed as (
    select
        source_group,
        {{ share_of_hash("'hcat half|' || source_group") }} as position,
        count(*) over () as count_sources
    from sources
),

halved as (
    select
        source_group,
        case when position + position < 1 then 'first' else 'second' end as half,
        case
            when count_sources <= {{ var('hcat_jackknife_sources') }} then source_group
            else floor(position * {{ var('hcat_jackknife_groups') }})::integer::string
        end as bucket
    from hashed
),

final as (
    select
        source_group,
        half,
        (row_number() over (order by source_group))::integer as source_number,
        (dense_rank() over (order by half, bucket))::integer as jackknife_group
    from halved
)

select * from final
