{{ config(materialized='table') }}

with queries_checked as (
    select query_id, similarity_to_chunk, copied_share from {{ ref('hcat', 'int_queries_checked') }}
    where check_status = 'accepted'
),

chunks_sampled as (
    select chunk_id, inclusion_probability from {{ ref('hcat', 'fct_sampled_chunks') }}
),

chunks as (
    select chunk_id, document_id from {{ ref('hcat', 'stg_chunks') }}
),

chunk_topics as (
    select chunk_id, topic_id from {{ ref('hcat', 'int_chunk_topics') }}
),

final as (
    select
        candidates.{{ columns_except(['text_id', 'encoder_key', 'encoded_text', 'count_characters']) }},
        chunk_topics.topic_id,
        -- questions about one document fail together: they are one cluster
        'document_' || chunks.document_id as source_group,
        'en' as language,
        queries_weighted.stratum_id,
        queries_weighted.weighting_status,
        queries_weighted.sampling_weight,
        chunks_sampled.inclusion_probability,
        queries_checked.similarity_to_chunk,
        queries_checked.copied_share
    from queries_checked
    inner join {{ ref('hcat', 'int_generated_candidates') }} as candidates
        on queries_checked.query_id = candidates.query_id
    left join {{ ref('hcat', 'int_queries_weighted') }} as queries_weighted
        on candidates.query_id = queries_weighted.query_id
    left join chunks_sampled on candidates.chunk_id = chunks_sampled.chunk_id
    left join chunks
        on coalesce(candidates.chunk_id, {{ array_at('candidates.source_chunk_ids', 1) }}) = chunks.chunk_id
    left join chunk_topics
        on coalesce(candidates.chunk_id, {{ array_at('candidates.source_chunk_ids', 1) }}) = chunk_topics.chunk_id
)

select * from final
