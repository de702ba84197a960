{{ config(materialized='table') }}

with chunks as (
    select lower(chunk_text) as folded_text from {{ ref('hcat', 'stg_chunks') }}
),

united as (
    select variant_type, material, item_id, text_before, text_after
    from {{ seed('test_variant_words') }} as words
    where
        material <> 'subject'
        or not exists (
            select 1 from chunks
            where contains(chunks.folded_text, lower(words.text_before))
        )
    union all
    select 'prompt_injection' as variant_type, 'prompt' as material, prompt_id, attack, prompt_text
    from {{ seed('adversarial_prompts') }}
    where is_enabled
    union all
    select 'counterfactual' as variant_type, usage || '_term' as material, pair_id, first_term, second_term
    from {{ seed('demographic_terms') }}
    where is_enabled
)

select * from united
