-- Each new metric family adds its name to the list.
{%- set families = [
    'similarity', 'transport', 'support', 'entailment', 'groundedness', 'behaviour',
    'safety', 'selfcheck', 'reference', 'retrieval', 'privacy', 'judged'
] %}
{%- set off = families_switched_off() + ([] if var('hcat_judge') else ['judged']) %}
{%- for family in families | reject('in', off) %}
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('hcat', 'int_metrics__' ~ family) }}
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
{%- endfor %}
