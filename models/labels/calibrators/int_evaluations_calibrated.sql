-- One row per (interaction, metric) with a score and a chosen calibrator, with the probability that people accept the
-- answer. The module hcat.calibration.calibrators explains each formula.
{{ config(materialized='table') }}

with scores as (
    select * from {{ ref('hcat', 'int_scores_located') }}
),

parameters as (
    select * from {{ ref('hcat', 'int_calibrator_parameters') }}
    where is_chosen
),

boosted as (
    select * from {{ ref('hcat', 'int_scores_boosted') }}
),

-- The input is the score itself, or its log odds where the score is a probability.
settings as (
    select
        metric_name,
        segment,
        max(value) filter (where parameter = 'logit_bound') as logit_bound,
        max(value) filter (where parameter = 'accept_from') as accept_from
    from parameters
    group by metric_name, segment
),

inputs as (
    select
        scores.interaction_id,
        scores.metric_name,
        scores.segment,
        scores.family,
        scores.raw_score,
        settings.accept_from,
        case
            when settings.logit_bound is null then scores.raw_score
            else
                ln(greatest(settings.logit_bound, least(1 - settings.logit_bound, scores.raw_score)))
                - ln(1 - greatest(settings.logit_bound, least(1 - settings.logit_bound, scores.raw_score)))
        end as input
    from scores
    inner join settings on scores.metric_name = settings.metric_name and scores.segment = settings.segment
),

-- logistic, and ordinal at the cut point from which people accept: both are one linear function of log odds.
lines as (
    select
        parameters.metric_name,
        parameters.segment,
        max(parameters.value) filter (where parameters.parameter = 'slope') as slope,
        coalesce(
            max(parameters.value) filter (where parameters.parameter = 'intercept'),
            -max(parameters.value) filter (
                where parameters.parameter = 'cut_point' and parameters.position = settings.accept_from
            )
        ) as intercept
    from parameters
    inner join settings on parameters.metric_name = settings.metric_name and parameters.segment = settings.segment
    where parameters.family in ('logistic', 'ordinal')
    group by parameters.metric_name, parameters.segment
),

by_line as (
    select
        inputs.interaction_id,
        inputs.metric_name,
        inputs.family,
        1 / (1 + exp(-(lines.intercept + lines.slope * inputs.input))) as probability
    from inputs
    inner join lines on inputs.metric_name = lines.metric_name and inputs.segment = lines.segment
),

-- multinomial: scale point 0 has log odds 0
points as (
    select
        metric_name,
        segment,
        position as scale_point,
        max(value) filter (where parameter = 'intercept') as intercept,
        max(value) filter (where parameter = 'slope') as slope
    from parameters
    where family = 'multinomial' and parameter in ('intercept', 'slope')
    group by metric_name, segment, position
),

weighed as (
    select
        inputs.interaction_id,
        inputs.metric_name,
        inputs.accept_from,
        points.scale_point,
        points.intercept + points.slope * inputs.input as log_odds
    from inputs
    inner join points on inputs.metric_name = points.metric_name and inputs.segment = points.segment
),

-- Subtracts the largest value, so that no exponential overflows.
shifted as (
    select
        *,
        greatest(0, max(log_odds) over (partition by interaction_id, metric_name)) as largest
    from weighed
),

by_points as (
    select
        interaction_id,
        metric_name,
        'multinomial' as family,
        {{ ordered_sum('case when scale_point >= accept_from then exp(log_odds - largest) else 0 end', 'scale_point') }}
        / (exp(-max(largest)) + {{ ordered_sum('exp(log_odds - largest)', 'scale_point') }}) as probability
    from shifted
    group by interaction_id, metric_name
),

steps as (
    select
        metric_name,
        segment,
        probability,
        coalesce(lower_bound, '-infinity'::double) as lower_bound,
        lead(lower_bound) over (partition by metric_name, segment order by lower_bound nulls first) as upper_bound
    from parameters
    where family = 'isotonic' and parameter = 'step'
),

by_steps as (
    select
        inputs.interaction_id,
        inputs.metric_name,
        inputs.family,
        steps.probability
    from inputs
    {{ join_within('steps', ['metric_name', 'segment'], 'inputs', 'raw_score') }}
),

by_any as (
    select * from by_line
    union all
    select * from by_points
    union all
    select * from by_steps
    union all
    select
        interaction_id,
        metric_name,
        'boosted' as family,
        probability
    from boosted
),

final as (
    select
        interaction_id,
        metric_name,
        family,
        -- Rounding may leave a sum of shares slightly above 1.
        least(1, greatest(0, probability))::double as calibrated_probability
    from by_any
)

select * from final
