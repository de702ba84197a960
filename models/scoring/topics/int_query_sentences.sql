{{ config(materialized='view') }}
with passages as (
    select *
    from {{ ref('hcat', 'int_interaction_passages') }}
    where role = 'query'
),

untagged as (
    select distinct passages.passage_id
    from passages
    inner join {{ ref('hcat', 'int_topics_logged') }} as topics on passages.interaction_id = topics.interaction_id
    where topics.topic is null
),

final as (
    select
        passages_split.passage_id,
        passages_split.sentence_text,
        embeddings.embedding,
        passages_split.sentence_index
    from untagged
    inner join {{ ref('hcat', 'int_passages_split') }} as passages_split
        on untagged.passage_id = passages_split.passage_id
    inner join {{ ref('hcat', 'int_embeddings') }} as embeddings on passages_split.text_id = embeddings.text_id
)

select * from final
