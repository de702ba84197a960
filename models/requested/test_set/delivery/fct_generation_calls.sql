-- The table is empty without a language model.
with masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_test_texts_masked') }}
    where masked_text is not null
),

final as (
    select
        calls.{{ columns_except(['prompt', 'answer']) }},
        coalesce(masked_prompts.masked_text, calls.prompt) as prompt,
        coalesce(masked_answers.masked_text, calls.answer) as answer
    from {{ ref('hcat', 'int_generation_calls') }} as calls
    left join masked as masked_prompts on md5(calls.prompt) = masked_prompts.text_id
    left join masked as masked_answers on md5(calls.answer) = masked_answers.text_id
)

select * from final
