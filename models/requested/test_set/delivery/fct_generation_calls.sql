-- One row per call of the language model: the ledger of every prompt and every answer. The table is empty without a
-- language model.
with calls as (
    select * from {{ ref('hcat', 'int_generation_calls') }}
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_test_texts_masked') }}
    where masked_text is not null
),

final as (
    select
        -- ids
        calls.call_id,
        calls.generation_key,
        calls.chunk_id,

        -- strings
        calls.query_type,
        calls.step,
        calls.model,
        calls.prompt_revision,
        calls.prompt_hash,
        coalesce(masked_prompts.masked_text, calls.prompt) as prompt,
        coalesce(masked_answers.masked_text, calls.answer) as answer,
        calls.call_status,
        calls.status_detail,

        -- numerics
        calls.call_round,
        calls.count_attempts,
        calls.prompt_tokens,
        calls.completion_tokens,
        calls.seconds,

        -- booleans
        calls.is_last,
        calls.was_kept
    from calls
    left join masked as masked_prompts on md5(calls.prompt) = masked_prompts.text_id
    left join masked as masked_answers on md5(calls.answer) = masked_answers.text_id
)

select * from final
