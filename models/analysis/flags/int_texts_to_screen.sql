{{ config(materialized='view') }}
with passages as (
    select distinct passage_id
    from {{ ref('hcat', 'int_interaction_passages') }}
    where role = 'query'
),

safety_texts as (
    select * from {{ ref('hcat', 'int_safety_texts') }}
    where purpose in ('restricted_example', 'scope_example')
),

embeddings as (
    select * from {{ ref('hcat', 'int_embeddings') }}
),

examples as (
    select safety_texts.*, embeddings.embedding
    from safety_texts
    inner join embeddings on safety_texts.text_id = embeddings.text_id
),

encoder as (
    select encoder_key from {{ ref('hcat', 'int_encoder') }}
),

listed as (
    select
        coalesce(
            {{ joined_text("purpose || ':' || topic || ':' || encoded_text", "'|'", 'purpose, source_id') }}, ''
        ) as examples
    from examples
),

keyed as (
    select
        md5(concat_ws('|', '{{ revision_of("screening") }}', encoder.encoder_key, listed.examples))
            as screening_key
    from listed
    cross join encoder
),

sentences as (
    select passages_split.text_id, min(passages_split.sentence_text) as encoded_text
    from {{ ref('hcat', 'int_passages_split') }} as passages_split
    inner join passages on passages_split.passage_id = passages.passage_id
    group by passages_split.text_id
),

texts as (
    select
        'sentence' as purpose,
        sentences.text_id as source_id,
        null::string as topic,
        sentences.text_id, sentences.encoded_text, embeddings.embedding
    from sentences
    inner join embeddings on sentences.text_id = embeddings.text_id
    union all
    select purpose, source_id, topic, text_id, encoded_text, embedding from examples
),

final as (
    select texts.*, keyed.screening_key
    from texts
    cross join keyed
)

select * from final
