with logged as (
    select * from {{ ref('hcat', 'int_topics_logged') }}
),

passages as (
    select *
    from {{ ref('hcat', 'int_interaction_passages') }}
    where role = 'query'
),

clusters as (
    select * from {{ ref('hcat', 'int_queries_clustered') }}
),

final as (
    select
        logged.interaction_id,
        coalesce(logged.topic, clusters.topic, 'no_topic') as topic,
        coalesce(logged.topic_source, case when clusters.topic is not null then 'query_cluster' end, 'none')
            as topic_source
    from logged
    left join passages on logged.interaction_id = passages.interaction_id
    left join clusters on passages.passage_id = clusters.passage_id
)

select * from final
