-- One row per distinct text of a query, an answer or a probe, with its vector and the key of this build's classifiers.
{{ config(materialized='view') }}
with passages as (
    select distinct passage_id
    from {{ ref('hcat', 'int_interaction_passages') }}
    where role in ('query', 'answer')
),

passages_split as (
    select * from {{ ref('hcat', 'int_passages_split') }}
),

safety_texts as (
    select * from {{ ref('hcat', 'int_safety_texts') }}
),

embeddings as (
    select * from {{ ref('hcat', 'int_embeddings') }}
),

texts as (
    select * from {{ ref('hcat', 'int_texts') }}
),

classifiers as (
    select distinct scoring_key from {{ ref('hcat', 'int_text_classifiers') }}
),

wanted as (
    select passages_split.text_id
    from passages_split
    inner join passages on passages_split.passage_id = passages.passage_id
    union
    select text_id
    from safety_texts
    where purpose = 'probe'
),

final as (
    select
        wanted.text_id,
        classifiers.scoring_key,
        texts.encoded_text,
        embeddings.embedding
    from wanted
    inner join texts on wanted.text_id = texts.text_id
    inner join embeddings on wanted.text_id = embeddings.text_id
    cross join classifiers
)

select * from final
