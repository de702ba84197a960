-- One row per call of the language model: the ledger of every prompt and every answer. Empty without a language model.
with calls as (
    select * from {{ ref('int_generation_calls') }}
),

final as (
    select
        -- ids
        call_id,
        generation_key,
        chunk_id,

        -- strings
        query_type,
        step,
        model,
        prompt_revision,
        prompt_hash,
        prompt,
        answer,
        call_status,
        status_detail,

        -- numerics
        call_round,
        count_attempts,
        prompt_tokens,
        completion_tokens,
        seconds,

        -- booleans
        is_last,
        was_kept
    from calls
)

select * from final
