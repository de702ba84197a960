with records as (
    select text_id, masked_text from {{ ref('hcat', 'int_records_masked') }}
    where masked_text is not null
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
),

chunk_topics as (
    select chunks.chunk_id, coalesce(chunks.topic, documents.topic) as topic
    from {{ ref('hcat', 'stg_chunks') }} as chunks
    left join {{ ref('hcat', 'stg_documents') }} as documents on chunks.document_id = documents.document_id
),

tagged as (
    select
        interactions.interaction_id,
        {{ json_field('coalesce(records.masked_text, interactions.tags)', "'topic'") }} as logged_topic,
        {{ array_at('interactions.source_chunk_ids', 1) }} as chunk_id
    from {{ ref('hcat', 'int_interactions') }} as interactions
    left join records on md5(interactions.tags) = records.text_id
),

final as (
    select
        tagged.interaction_id,
        coalesce(tagged.logged_topic, masked.masked_text, chunk_topics.topic) as topic,
        case
            when tagged.logged_topic is not null then 'logged_tag'
            when chunk_topics.topic is not null then 'source_chunk'
        end as topic_source
    from tagged
    left join chunk_topics on tagged.chunk_id = chunk_topics.chunk_id
    left join masked on md5(chunk_topics.topic) = masked.text_id
)

select * from final
