{#- column of a log -> its measure -#}
{%- set measures = {
    'latency_seconds': 'latency', 'count_input_tokens': 'input_tokens', 'count_output_tokens': 'output_tokens', 'cost': 'cost'
} -%}
with measured as (
    {%- for column, measure in measures.items() %}
    select
        interactions.system, interactions.population, date_trunc('week', interactions.asked_at)::date as week_start,
        costs.language_model, costs.prompt_version, '{{ measure }}' as measure, costs.{{ column }}::double as amount
    from {{ ref('hcat', 'fct_interactions') }} as interactions
    inner join {{ ref('hcat', 'stg_interactions') }} as costs on interactions.interaction_id = costs.interaction_id
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

summed as (
    select
        system, population, measure, week_start,
        if(grouping(week_start) = 1, 'all', 'week') as period,
        nullif({{ array_join('array_sort(array_agg(distinct language_model))', ', ') }}, '') as language_models,
        nullif({{ array_join('array_sort(array_agg(distinct prompt_version))', ', ') }}, '') as prompt_versions,
        count(*) as count_interactions,
        count(*) - count(amount) as count_missing,
        -- what the log says of no answer is no measure of it
        max(count(amount)) over (partition by measure) as most_logged,
        {%- for name, quantile in {'median': 0.5, 'p90': 0.9, 'p95': 0.95, 'p99': 0.99}.items() %}
        (percentile_cont({{ quantile }}) within group (order by amount))::double as {{ name }},
        {%- endfor %}
        {{ exact_sum('amount') }} as total
    from measured
    group by system, population, measure, rollup(week_start)
)

select {{ columns_of_contract({
    'assistant_cost_id': "md5(concat_ws('|', system, population, measure, period, week_start::string))",
}) }}
from summed
where most_logged > 0 and (period = 'all' or week_start is not null)
