-- One row per distinct text of a candidate, with the key of this build's encoder. It is the content key of an
-- embedding.
with candidates as (
    select distinct query_text from {{ ref('hcat', 'int_generated_candidates') }}
),

encoder as (
    select encoder_key from {{ ref('hcat', 'int_encoder') }}
),

final as (
    select
        md5(candidates.query_text) as text_id,
        encoder.encoder_key,
        candidates.query_text as encoded_text,
        length(candidates.query_text) as count_characters
    from candidates
    cross join encoder
)

select * from final
