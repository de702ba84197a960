-- One row per staged span whose dialect is known, with its dialect and the role that its kind gives it.
{{ config(materialized='table') }}
{%- set roles = ['chain', 'model', 'retriever', 'reranker', 'tool'] %}

with attributes as (
    select * from {{ ref('hcat', 'base_span_attributes') }}
),

paths as (
    select * from {{ ref('hcat', 'base_span_paths') }}
),

dialects as (
    select * from {{ seed('span_dialects') }}
),

recognised as (
    select
        attributes.record_id,
        min(dialects.precedence) as precedence
    from attributes
    inner join paths on attributes.path = paths.path
    inner join dialects on paths.dialect = dialects.dialect
    where paths.field = 'recognised_by'
    group by attributes.record_id
),

kinds as (
    select
        recognised.record_id,
        dialects.dialect,
        dialects.texts,
        dialects.model_may_answer,
        {%- for role in roles %}
        '|' || lower(dialects.{{ role }}_kinds) || '|' as {{ role }}_kinds,
        {%- endfor %}
        paths.priority,
        lower(
            case
                when dialects.texts = 'json' then replace(attributes.value, '"', '')
                else attributes.value
            end
        ) as kind
    from recognised
    inner join dialects on recognised.precedence = dialects.precedence
    left join paths on dialects.dialect = paths.dialect and paths.field = 'kind'
    left join attributes on recognised.record_id = attributes.record_id and paths.path = attributes.path
),

named as (
    select
        record_id,
        dialect,
        texts,
        model_may_answer,
        kind,
        priority,
        case
            {%- for role in roles %}
            when contains({{ role }}_kinds, '|' || kind || '|') then '{{ role }}'
            {%- endfor %}
            else 'other'
        end as role
    from kinds
),

numbered as (
    select
        *,
        row_number() over (
            partition by record_id
            order by case when role = 'other' then 1 else 0 end, kind is null, priority
        ) as place
    from named
),

final as (
    select
        record_id,
        dialect,
        texts,
        kind,
        role,
        model_may_answer
    from numbered
    where place = 1
)

select * from final
