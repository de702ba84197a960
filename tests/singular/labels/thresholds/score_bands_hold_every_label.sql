{{ config(enabled=is_on('calibration')) }}
-- Metrics whose bands do not add up to the labels, or with an empty band.
with labels as (
    select metric_name, count(*) as count_labels, count(*) filter (where label = 0) as count_failed
    from {{ ref('hcat', 'int_labels') }}
    group by metric_name
),

bands as (
    select metric_name, sum(count_labels) as count_labels, sum(count_failed) as count_failed
    from {{ ref('hcat', 'fct_score_bands') }}
    group by metric_name
)

select labels.metric_name, labels.count_labels, bands.count_labels as count_in_bands
from labels
full join bands on labels.metric_name = bands.metric_name
where
    labels.count_labels is distinct from bands.count_labels
    or labels.count_failed is distinct from bands.count_failed
