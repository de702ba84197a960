-- A jackknife leaves out few clusters one by one and many in buckets, which bounds the work.
{#- up to this number each cluster leaves by itself, so that small cells keep all degrees of freedom -#}
{%- set alone = 1000 -%}
{#- with 128 groups a standard error varies by 6 %, and a t quantile equals that of the normal distribution -#}
{%- set count_groups = 128 %}
with clusters as (
    select distinct cluster_id, false as is_second from {{ ref('hcat', 'fct_interactions') }}
    union all
    select distinct second_cluster_id, true as is_second from {{ ref('hcat', 'fct_interactions') }}
),

hashed as (
    select
        cluster_id, is_second,
        {{ share_of_hash("'hcat half|' || cluster_id") }} as position,
        count(*) over (partition by is_second) as count_clusters
    from clusters
),

final as (
    select
        cluster_id, is_second,
        case
            when count_clusters <= {{ alone }} then cluster_id
            else floor(position * {{ count_groups }})::integer::string
        end as jackknife_group
    from hashed
)

select * from final
