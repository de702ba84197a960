-- Scores outside the range of the catalogue. The test allows a tolerance, because similarities are float32.
select evaluations.evaluation_id, evaluations.metric_name, evaluations.raw_score, metrics.range_low, metrics.range_high
from {{ ref('hcat', 'fct_evaluations') }} as evaluations
inner join {{ ref('hcat', 'dim_metrics') }} as metrics on evaluations.metric_name = metrics.metric_name
where
    evaluations.raw_score < metrics.range_low - 1e-6
    or evaluations.raw_score > metrics.range_high + 1e-6
