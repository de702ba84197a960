-- One row per call of the language model for templates.
with calls as (
    select * from {{ ref('hcat', 'int_grammar_calls') }}
),

final as (
    select
        -- ids
        call_id,
        generation_key,
        sql_template_id,

        -- strings
        step,
        style,
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
