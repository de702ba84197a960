-- Grades come from relevance judgements where there are any, else from the source chunks of the query.
with judgements as (
    select query_id, chunk_id, max(greatest(grade, 0)) as grade
    from {{ ref_if_on('retrieval', 'stg_relevance_judgements', 'query_id, chunk_id, grade double') }}
    group by query_id, chunk_id
),

sources as (
    select distinct query_id, {{ explode('source_chunk_ids') }} as chunk_id from {{ ref('hcat', 'stg_queries') }}
),

final as (
    select query_id, chunk_id, grade from judgements
    union all
    select sources.query_id, sources.chunk_id, 1::double as grade
    from sources
    left join judgements on sources.query_id = judgements.query_id
    where judgements.query_id is null and sources.chunk_id is not null
)

select * from final
