with candidates as (
    select * from {{ ref('hcat', 'int_generated_candidates') }}
),

encoder as (
    select encoder_key, encoder_name from {{ ref('hcat', 'int_encoder') }}
),

embeddings as (
    select embedded.text_id, embedded.embedding, encoder.encoder_name
    from {{ ref('hcat', 'int_generated_embedded') }} as embedded
    inner join encoder on embedded.encoder_key = encoder.encoder_key
),

chunk_embeddings as (
    select chunk_id, embedding from {{ ref('hcat', 'int_chunk_embeddings') }}
),

chunks as (
    select chunk_id, chunk_text from {{ ref('hcat', 'stg_chunks') }}
),

sources as (
    select
        candidates.query_id,
        {{ explode('coalesce(candidates.source_chunk_ids, ' ~ array_of(['candidates.chunk_id']) ~ ')') }}
            as source_chunk_id
    from candidates
),

source_texts as (
    select
        sources.query_id,
        {{ joined_text('chunks.chunk_text', 'chr(10)', 'sources.source_chunk_id') }} as source_text
    from sources
    inner join chunks on sources.source_chunk_id = chunks.chunk_id
    group by sources.query_id
),

final as (
    select
        candidates.query_id, candidates.chunk_id, candidates.query_text, candidates.reference_answer,
        candidates.query_type, candidates.expected_behaviour, candidates.generator, embeddings.encoder_name,
        source_texts.source_text, embeddings.embedding,
        chunk_embeddings.embedding as chunk_embedding
    from candidates
    inner join embeddings on candidates.text_id = embeddings.text_id
    left join chunk_embeddings
        on coalesce(candidates.chunk_id, {{ array_at('candidates.source_chunk_ids', 1) }}) = chunk_embeddings.chunk_id
    left join source_texts on candidates.query_id = source_texts.query_id
)

select * from final
