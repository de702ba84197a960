-- One row per metric of this project: those of the modules of hcat that are on, and those that the project adds with
-- hcat_own_metrics. A metric is primary if its catalogue says so, or if a listed risk names it: a risk is watched by
-- segment and from week to week.
{%- set families_off = families_switched_off() %}
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

catalogued as (
    select * from shipped
    union all
    select * from own
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
        catalogued.metric_name,
        catalogued.family,
        catalogued.base_metric,
        catalogued.aggregate,
        catalogued.comparison,
        catalogued.direction,
        catalogued.unit,
        catalogued.requires,
        catalogued.applies_to_behaviour,
        catalogued.applies_to_answer_types,
        catalogued.refusal_rule,
        catalogued.source,
        catalogued.description,
        catalogued.range_low,
        catalogued.range_high,
        catalogued.score_when_refused,
        catalogued.is_primary or named_by_risks.metric_name is not null as is_primary
    from catalogued
    left join named_by_risks on catalogued.metric_name = named_by_risks.metric_name
)

select * from final
