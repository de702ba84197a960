-- A further judge has metrics under its own name. Primary is what the catalogue says, and what a listed risk names.
{{ config(materialized='view') }}
{%- set families_off = families_switched_off() %}
{%- set texts = [
    'metric_name', 'family', 'base_metric', 'aggregate', 'comparison', 'direction', 'unit', 'requires',
    'applies_to_behaviour', 'applies_to_answer_types', 'refusal_rule', 'source', 'description'
] %}
{%- set numbers = ['range_low', 'range_high', 'score_when_refused'] %}
with shipped as (
    select * from {{ seed('metric_catalog') }}
    {%- if families_off %}
    where family not in ('{{ families_off | join("', '") }}')
    {%- endif %}
),

own as (
    select * from {{ seed('own_metrics') }}
),

risks as (
    select * from {{ seed('risks') }}
),

-- with types, because dbt guesses those of a seed of the project, and takes a column without a value for whole numbers
catalogued as (
    {%- for table in ['shipped', 'own'] %}
    select
        {%- for name in texts %}
        {{ name }}::string as {{ name }},
        {%- endfor %}
        {%- for name in numbers %}
        {{ name }}::double as {{ name }},
        {%- endfor %}
        is_primary::boolean as is_primary
    from {{ table }}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
),

judged as (
    select * from catalogued
    {%- for judge in further_judges() %}
    union all
    select metric_name || '@{{ judge }}' as metric_name, {{ columns_except(['metric_name']) }}
    from catalogued
    where family = 'judged'
    {%- endfor %}
),

named_by_risks as (
    select metric_name from risks
    where metric_name is not null
    union distinct
    select control_metric as metric_name from risks
    where control_metric is not null
),

final as (
    select
        {%- for name in texts + numbers %}
        judged.{{ name }},
        {%- endfor %}
        judged.is_primary or named_by_risks.metric_name is not null as is_primary
    from judged
    left join named_by_risks on judged.metric_name = named_by_risks.metric_name
)

select * from final
