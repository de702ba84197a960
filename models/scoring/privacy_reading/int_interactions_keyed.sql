-- One row per interaction with a hash of all that its rows are made of, and whether it differs from that of the last
-- build. Models that read is_changed write only these interactions again, if `hcat build` found that nothing but the
-- logs changed. Everything that is computed from a text alone has the text in its key, and is covered by it.
{{ config(materialized='table') }}

with interactions as (
    select * from {{ ref('hcat', 'int_interactions_described') }}
),

passages as (
    select *, md5(passage_text) as text_id from {{ ref('hcat', 'int_interaction_passages') }}
),

-- How a text is read for personal data depends on all interactions that have it, and what is shown on the documents.
readings as (
    select text_id, reading_key from {{ ref('hcat', 'int_texts_masked') }}
),

retrievals as (
    select * from {{ ref('hcat', 'stg_retrievals') }}
),

chunks as (
    select chunk_id, document_id from {{ ref('hcat', 'stg_chunks') }}
),

relevance as (
    select query_id, bit_xor(hash(chunk_id, grade)) as judged
    from {{ ref('hcat', 'int_query_relevance') }}
    group by query_id
),

samples as (
    select * from {{ ref_if_on(
        'selfcheck', 'int_interaction_samples',
        'interaction_id string, other_interaction_id string, sample_position bigint'
    ) }}
),

-- Rows of a part differ from each other, so that no two of them cancel out.
parts as (
    select
        interactions.interaction_id,
        hash(
            'interaction',
            interactions,
            -- null and an empty list have one hash, but not one text
            interactions.query_sentence_weights::varchar,
            interactions.answer_sentence_weights::varchar,
            interactions.reference_sentence_weights::varchar,
            interactions.source_chunk_ids::varchar
        ) as part
    from interactions
    union all
    select
        passages.interaction_id,
        hash(
            'passage', passages.role, passages.position, passages.completeness_weight, passages.passage_id,
            readings.reading_key
        ) as part
    from passages
    left join readings on passages.text_id = readings.text_id
    union all
    select
        retrievals.interaction_id,
        hash(
            'retrieval', retrievals.rank, retrievals.chunk_id, retrievals.retrieval_score,
            retrievals.completeness_weight, chunks.document_id
        ) as part
    from retrievals
    left join chunks on retrievals.chunk_id = chunks.chunk_id
    union all
    select interactions.interaction_id, hash('relevance', relevance.judged) as part
    from interactions
    inner join relevance on interactions.query_id = relevance.query_id
    union all
    select
        samples.interaction_id,
        hash('sample', samples.sample_position, samples.other_interaction_id, answers.passage_id) as part
    from samples
    inner join passages as answers on samples.other_interaction_id = answers.interaction_id and answers.role = 'answer'
),

keyed as (
    select interaction_id, bit_xor(part) as interaction_key
    from parts
    group by interaction_id
),

final as (
    {{ compare_with_last_build('interaction_id', 'interaction_key') }}
)

select * from final
