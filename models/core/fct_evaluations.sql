{{ config(
    materialized='incremental',
    unique_key='evaluation_id',
    incremental_strategy='delete+insert',
    on_schema_change='append_new_columns',
    post_hook="{{ delete_evaluations_outside_index() }}"
) }}
{#- All that an input, decision or label can change, so that only changed rows are written again. #}
{%- set compared = [
    'score_status', 'raw_score', 'threshold', 'is_failing', 'human_label', 'label_rater_kind', 'scored_count', 'detail',
    'calibrated_probability', 'prediction_set', 'calibration_status'
] %}

with targets as (
    select metric_name, criterion from {{ seed('calibration_targets') }}
),

labels as (
    select interaction_id, criterion, label, rater_kind
    from {{ ref_if_on(
        'calibration', 'int_ratings_adjudicated', 'interaction_id, criterion, label integer, rater_kind'
    ) }}
),

calibrated as (
    select interaction_id, metric_name, calibrated_probability, prediction_set
    from {{ ref_if_on(
        'calibration', 'int_evaluations_calibrated',
        'interaction_id, metric_name, calibrated_probability double, prediction_set'
    ) }}
),

validity as (
    select *
    from {{ ref_if_on('calibration', 'fct_calibration_validity', 'metric_name, version_class, calibration_status') }}
),

joined as (
    select
        evaluations.{{ columns_except(['version_class', 'scored_count']) }},
        calibrated.prediction_set,
        case when labels.label is not null then labels.rater_kind end as label_rater_kind,
        case
            when targets.metric_name is null or not {{ is_on('calibration') }} then 'not_calibrated'
            when evaluations.raw_score is null then 'no_score'
            else validity.calibration_status
        end as calibration_status,
        calibrated.calibrated_probability,
        evaluations.scored_count::integer as scored_count,
        labels.label::integer as human_label
    from {{ ref('hcat', 'int_evaluations_decided') }} as evaluations
    left join validity
        on
            evaluations.metric_name = validity.metric_name
            and evaluations.version_class = validity.version_class
    left join targets on evaluations.metric_name = targets.metric_name
    left join labels on evaluations.interaction_id = labels.interaction_id and targets.criterion = labels.criterion
    left join calibrated
        on evaluations.interaction_id = calibrated.interaction_id and evaluations.metric_name = calibrated.metric_name
),

hashed as (
    select
        *,
        '{{ invocation_id }}' as written_run_id,
        {{ hash_row(compared) }} as content_hash
    from joined
),

{%- if is_incremental() %}

written as (
    select evaluation_id, {{ hash_row(compared) }} as content_hash from {{ this }}
),

{%- else %}

written as (
    select evaluation_id, content_hash from hashed
    where false
),

{%- endif %}

-- a left join, because DuckDB takes twice the time for `not exists`
final as (
    select hashed.*
    from hashed
    left join written
        on hashed.evaluation_id = written.evaluation_id and hashed.content_hash = written.content_hash
    where written.evaluation_id is null
)

select {{ columns_except(['content_hash']) }} from final
