-- One row per call of the judge: the ledger of every prompt and every answer, with tokens and cost.
{% set price_prompt = var('hcat_judge_price_prompt') %}
{% set price_completion = var('hcat_judge_price_completion') %}

select
    *,
    '{{ var("hcat_judge_currency") | replace("'", "''") }}' as currency,
    {%- if price_prompt is none or price_completion is none %}
    null::double as cost
    {%- else %}
    (prompt_tokens * {{ price_prompt | float }} + completion_tokens * {{ price_completion | float }}) / 1000::double
        as cost
    {%- endif %}
from {{ ref('hcat', 'int_judge_calls') }}
