-- One row per (interaction, metric) that was computed. Each new metric family adds its name to the list.
-- This is a table, written one family after the other, because the aggregates of all families and the completed index
-- exceed the memory together at scale.
{%- set families = [
    'similarity', 'transport', 'support', 'entailment', 'groundedness', 'behaviour',
    'safety', 'selfcheck', 'reference', 'retrieval', 'privacy', 'judged'
] %}
{%- set off = families_switched_off() + ([] if var('hcat_judge') else ['judged']) %}
{%- set families = families | reject('in', off) | list %}
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    full_refresh=writes_all_interactions(),
    pre_hook=[
        "{{ delete_changed() }}",
        "{{ begin_buckets(" ~ (families + var('hcat_own_metrics')) | length ~ ") }}"
    ],
    post_hook="{{ insert_other_buckets() }}"
) }}
{%- for family in families %}
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('hcat', 'int_metrics__' ~ family) }}
where {{ is_bucket(loop.index0) }} and {{ is_changed('interaction_id') }}
{%- if not loop.last %}
union all
{%- endif %}
{%- endfor %}
{%- for name in var('hcat_own_metrics') %}
union all
select
    {{ evaluation_id('interaction_id', 'metric_name') }} as evaluation_id,
    interaction_id,
    metric_name,
    raw_score::double as raw_score,
    score_status,
    scored_count::bigint as scored_count,
    detail::string as detail
from {{ ref(name) }}
where {{ is_bucket((families | length) + loop.index0) }}
{%- endfor %}
