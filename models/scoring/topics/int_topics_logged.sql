-- One row per interaction with its logged topic, else the topic of the first source chunk of its query, else null.
{{ config(materialized='view') }}
with interactions as (
    select * from {{ ref('hcat', 'int_interactions_joined') }}
),

tags_masked as (
    select interaction_id, tags from {{ ref('hcat', 'int_interactions_masked') }}
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
),

chunks as (
    select * from {{ ref('hcat', 'stg_chunks') }}
),

documents as (
    select * from {{ ref('hcat', 'stg_documents') }}
),

chunk_topics as (
    select chunks.chunk_id, coalesce(chunks.topic, documents.topic) as topic
    from chunks
    left join documents on chunks.document_id = documents.document_id
),

final as (
    select
        interactions.interaction_id,
        coalesce({{ json_field('tags_masked.tags', "'topic'") }}, masked.masked_text, chunk_topics.topic) as topic,
        case
            when {{ json_field('tags_masked.tags', "'topic'") }} is not null then 'logged_tag'
            when chunk_topics.topic is not null then 'source_chunk'
        end as topic_source
    from interactions
    inner join tags_masked on interactions.interaction_id = tags_masked.interaction_id
    left join chunk_topics on {{ array_at('interactions.source_chunk_ids', 1) }} = chunk_topics.chunk_id
    left join masked on md5(chunk_topics.topic) = masked.text_id
)

select * from final
