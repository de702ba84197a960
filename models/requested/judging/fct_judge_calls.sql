-- One row per call of the judge: the ledger of every prompt and every answer, with tokens and cost.
{% set price_prompt = var('hcat_judge_price_prompt') %}
{% set price_completion = var('hcat_judge_price_completion') %}

with calls as (
    select * from {{ ref('hcat', 'int_judge_calls') }}
),

final as (
    select
        -- ids
        call_id,
        judge_key,

        -- strings
        judge_task,
        subject,
        step,
        model,
        prompt_revision,
        prompt_hash,
        prompt,
        answer,
        call_status,
        status_detail,
        '{{ var("hcat_judge_currency") | replace("'", "''") }}' as currency,

        -- numerics
        call_round,
        count_attempts,
        prompt_tokens,
        completion_tokens,
        {%- if price_prompt is none or price_completion is none %}
        null::double as cost,
        {%- else %}
        (prompt_tokens * {{ price_prompt | float }} + completion_tokens * {{ price_completion | float }}) / 1000::double
            as cost,
        {%- endif %}
        seconds,

        -- booleans
        is_last,
        was_kept
    from calls
)

select * from final
