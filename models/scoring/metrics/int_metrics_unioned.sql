-- One row per (interaction, metric) that was computed. Each new metric family adds one line.
-- This is a table, because the aggregates of all families and the completed index exceed the memory together at scale.
{{ config(materialized='table') }}

select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__similarity') }}
union all
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__transport') }}
union all
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__support') }}
union all
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__safety') }}
union all
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__entailment') }}
union all
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__selfcheck') }}
{%- if var('hcat_judge', false) %}
union all
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__judged') }}
{%- endif %}
union all
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__groundedness') }}
union all
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__reference') }}
union all
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__retrieval') }}
union all
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__privacy') }}
union all
select evaluation_id, interaction_id, metric_name, raw_score, score_status, scored_count, detail
from {{ ref('int_metrics__behaviour') }}
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
