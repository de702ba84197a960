-- One row per (metric that people calibrate, version class): are its calibrators valid for answers of that class? They
-- are void when the class has too few labels, whatever the labels of other classes say.
with classes as (
    select * from {{ ref('hcat', 'int_interaction_version_classes') }}
),

targets as (
    select * from {{ ref('hcat', 'int_calibration_targets') }}
),

calibrators as (
    select metric_name from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'calibrators' and is_chosen and segment = 'all'
),

labels as (
    select * from {{ ref('hcat', 'int_labels') }}
),

expected as (
    select targets.metric_name, targets.criterion, classes.version_class, count(*) as count_interactions
    from classes
    cross join targets
    group by targets.metric_name, targets.criterion, classes.version_class
),

labelled as (
    select
        labels.metric_name,
        classes.version_class,
        count(*) as count_labels,
        count(distinct labels.cluster_id) as count_clusters,
        max(labels.rated_at) as last_rated_at
    from labels
    inner join classes on labels.interaction_id = classes.interaction_id
    group by labels.metric_name, classes.version_class
),

joined as (
    select
        expected.metric_name,
        expected.criterion,
        expected.version_class,
        expected.count_interactions,
        coalesce(labelled.count_labels, 0) as count_labels,
        coalesce(labelled.count_clusters, 0) as count_clusters,
        labelled.last_rated_at,
        labelled.last_rated_at + interval '{{ var("hcat_calibration_valid_days") }} days' as valid_until,
        calibrators.metric_name is not null as has_calibrator
    from expected
    left join labelled
        on expected.metric_name = labelled.metric_name and expected.version_class = labelled.version_class
    left join calibrators on expected.metric_name = calibrators.metric_name
),

final as (
    select
        {{ columns_except(['has_calibrator']) }},
        case
            when not has_calibrator then 'no_calibrator'
            when count_clusters < {{ var('hcat_minimum_class_clusters') }} then 'void_version_class'
            when valid_until < timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}' then 'expired'
            else 'in_force'
        end as calibration_status
    from joined
)

select * from final
