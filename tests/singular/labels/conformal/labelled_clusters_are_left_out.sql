{{ config(enabled=is_on('calibration')) }}
-- Audit labels whose own cluster would decide the set of its interactions, because no limit leaves the cluster out.
with labels as (
    select distinct metric_name, cluster_id, label from {{ ref('hcat', 'int_labels') }}
    where is_audit
),

conformalized as (
    select distinct metric_name from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'quantiles' and stratification = 'label_conditional' and status <> 'not_calibrated'
),

left_out as (
    select * from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'limits'
)

select labels.metric_name, labels.cluster_id, labels.label
from labels
inner join conformalized on labels.metric_name = conformalized.metric_name
where
    not exists (
        select 1 from left_out
        where
            left_out.metric_name = labels.metric_name
            and left_out.cluster_id = labels.cluster_id
            and left_out.label = labels.label
    )
