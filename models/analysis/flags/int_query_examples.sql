-- One row per enabled example of a restricted topic or of the purpose of the application, with its vector.
{{ config(materialized='view') }}
with safety_texts as (
    select *
    from {{ ref('hcat', 'int_safety_texts') }}
    where purpose in ('restricted_example', 'scope_example')
),

embeddings as (
    select * from {{ ref('hcat', 'int_embeddings') }}
),

final as (
    select
        safety_texts.source_id as example_id,
        safety_texts.purpose,
        safety_texts.topic,
        safety_texts.encoded_text as example_text,
        embeddings.embedding
    from safety_texts
    inner join embeddings on safety_texts.text_id = embeddings.text_id
)

select * from final
