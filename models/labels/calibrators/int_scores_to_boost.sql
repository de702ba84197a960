-- One row per (interaction, metric) with a score whose calibrator consists of trees, which SQL cannot apply.
{{ config(materialized='view') }}
with located as (
    select * from {{ ref('hcat', 'int_scores_located') }}
    where family = 'boosted'
)

select
    interaction_id,
    metric_name,
    segment,
    raw_score
from located
