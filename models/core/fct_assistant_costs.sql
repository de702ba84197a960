{#- column of a log -> its measure -#}
{%- set measures = {
    'latency_seconds': 'latency', 'count_input_tokens': 'input_tokens', 'count_output_tokens': 'output_tokens', 'cost': 'cost'
} -%}
{%- set quantiles = {'median': 0.5, 'p90': 0.9, 'p95': 0.95, 'p99': 0.99} -%}
with interactions as (
    select interaction_id, system, population, asked_at from {{ ref('hcat', 'fct_interactions') }}
),

logged as (
    select
        interactions.system, interactions.population,
        date_trunc('week', interactions.asked_at)::date as asked_week,
        costs.language_model, costs.prompt_version, costs.{{ measures | join(', costs.') }}
    from {{ ref('hcat', 'stg_interactions') }} as costs
    inner join interactions on costs.interaction_id = interactions.interaction_id
),

-- what the log says of no answer is no measure of it
said as (
    select
        {%- for column, measure in measures.items() %}
        count({{ column }}) > 0 as has_{{ measure }},
        {%- endfor %}
        count(*) as count_logged
    from logged
),

measured as (
    {%- for column, measure in measures.items() %}
    select
        logged.system, logged.population, logged.asked_week, logged.language_model, logged.prompt_version,
        '{{ measure }}' as measure, logged.{{ column }}::double as amount
    from logged
    inner join said on said.has_{{ measure }}
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

periods as (
    select measured.*, 'all' as period, null::date as week_start from measured
    union all
    select measured.*, 'week' as period, measured.asked_week as week_start from measured
    where measured.asked_week is not null
),

final as (
    select
        -- ids
        md5(concat_ws('|', system, population, measure, period, week_start::string)) as assistant_cost_id,

        -- strings
        system, population, measure, period,
        nullif({{ array_join('array_sort(array_agg(distinct language_model))', ', ') }}, '') as language_models,
        nullif({{ array_join('array_sort(array_agg(distinct prompt_version))', ', ') }}, '') as prompt_versions,

        -- numerics
        count(*) as count_interactions,
        count(*) - count(amount) as count_missing,
        {{ exact_sum('amount') }} as total,
        {%- for name, quantile in quantiles.items() %}
        (percentile_cont({{ quantile }}) within group (order by amount))::double as {{ name }},
        {%- endfor %}

        -- timestamps
        week_start
    from periods
    group by system, population, measure, period, week_start
)

select * from final
