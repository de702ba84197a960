{#- labelled clusters of a version class below which nothing shows that a calibrator holds for it -#}
{%- set minimum_class_clusters = 10 -%}
-- Are the calibrators of a metric valid for answers of a version class? They are void when the class has too few
-- labels, whatever the labels of other classes say.
with evaluations as (
    select
        *,
        label is not null and raw_score is not null as is_labelled
    from {{ ref('hcat', 'int_target_evaluations') }}
),

calibrators as (
    select metric_name from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'calibrators' and is_chosen and segment = 'all'
),

counted as (
    select
        metric_name,
        criterion,
        version_class,
        count(*) as count_interactions,
        count(*) filter (where is_labelled) as count_labels,
        count(distinct cluster_id) filter (where is_labelled) as count_clusters,
        max(rated_at) filter (where is_labelled) as last_rated_at
    from evaluations
    group by metric_name, criterion, version_class
),

dated as (
    select
        counted.*,
        counted.last_rated_at + interval '{{ var("hcat_calibration_valid_days") }} days' as valid_until,
        calibrators.metric_name is not null as has_calibrator
    from counted
    left join calibrators on counted.metric_name = calibrators.metric_name
),

judged as (
    select
        *,
        case
            when not has_calibrator then 'no_calibrator'
            when count_clusters < {{ minimum_class_clusters }} then 'void_version_class'
            when valid_until is null then 'undated'
            when valid_until < timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}' then 'expired'
            else 'in_force'
        end as calibration_status
    from dated
)

select {{ columns_of_contract({
    'calibration_validity_id': "md5(concat_ws('|', metric_name, version_class))",
}) }}
from judged
