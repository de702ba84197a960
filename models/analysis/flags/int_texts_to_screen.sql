-- One row per distinct sentence of a query, with its vector and with a key of the rules, examples and encoder.
{{ config(materialized='view') }}
with passages as (
    select distinct passage_id
    from {{ ref('hcat', 'int_interaction_passages') }}
    where role = 'query'
),

passages_split as (
    select * from {{ ref('hcat', 'int_passages_split') }}
),

embeddings as (
    select * from {{ ref('hcat', 'int_embeddings') }}
),

examples as (
    select
        coalesce(
            {{ joined_text("purpose || ':' || topic || ':' || example_text", "'|'", 'purpose, example_id') }}, ''
        ) as listed
    from {{ ref('hcat', 'int_query_examples') }}
),

encoder as (
    select encoder_key from {{ ref('hcat', 'int_encoder') }}
),

sentences as (
    select passages_split.text_id, min(passages_split.sentence_text) as encoded_text
    from passages_split
    inner join passages on passages_split.passage_id = passages.passage_id
    group by passages_split.text_id
),

final as (
    select
        sentences.text_id,
        md5(concat_ws('|', '{{ var("hcat_screening_revision") }}', encoder.encoder_key, examples.listed))
            as screening_key,
        sentences.encoded_text,
        embeddings.embedding
    from sentences
    inner join embeddings on sentences.text_id = embeddings.text_id
    cross join examples
    cross join encoder
)

select * from final
