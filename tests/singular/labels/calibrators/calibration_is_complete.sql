{{ config(enabled=is_on('calibration')) }}
-- Targets without a status of their calibrator, scores with a calibrator but no probability, and scores with a
-- probability but no calibrator.
with targets as (
    select metric_name from {{ ref('hcat', 'int_calibration_targets') }}
),

chosen as (
    select metric_name from {{ ref('hcat', 'fct_calibrators') }}
    where is_chosen and segment = 'all'
),

unsaid as (
    select
        metric_name,
        null as interaction_id,
        'no row in fct_calibrators' as problem
    from targets
    where
        metric_name not in (
            select fct_calibrators.metric_name from {{ ref('hcat', 'fct_calibrators') }} as fct_calibrators
        )
),

unequal as (
    select
        evaluations.metric_name,
        evaluations.interaction_id,
        'probability and calibrator disagree' as problem
    from {{ ref('hcat', 'fct_evaluations') }} as evaluations
    left join chosen on evaluations.metric_name = chosen.metric_name
    where
        (
            evaluations.raw_score is not null
            and chosen.metric_name is not null
            and evaluations.calibration_status in ('in_force', 'expired')
        )
        <> (evaluations.calibrated_probability is not null)
        or (evaluations.calibrated_probability is null) <> (evaluations.prediction_set is null)
)

select * from unsaid
union all
select * from unequal
