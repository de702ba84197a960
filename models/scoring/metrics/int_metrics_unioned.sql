-- One row per (interaction, metric) that was computed. A new family is one more line.
-- A table: the families' aggregates and the completed index do not fit in memory together at scale.
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
