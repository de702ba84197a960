-- One row per (interaction, metric) with an ordinal calibrator: the scale points that cannot be ruled out at the level
-- in force. Point k is in the set if and only if 1 - P(label = k) <= q of that point.
with evaluations as (
    select interaction_id, metric_name, raw_score from {{ ref('int_evaluations_completed') }}
    where raw_score is not null
),

parameters as (
    select * from {{ ref('int_calibrator_parameters') }}
    where family = 'ordinal' and segment = 'all'
),

quantiles as (
    select
        metric_name,
        label,
        quantile,
        -- one point without a quantile and nothing can be ruled out
        bool_and(status = 'conformalized') over (partition by metric_name) as is_conformalized
    from {{ ref('int_conformal_quantiles') }}
    where stratification = 'scale_point' and alpha = {{ var('hcat_conformal_alpha') }}
),

slopes as (
    select
        metric_name,
        max(value) filter (where parameter = 'slope') as slope,
        max(value) filter (where parameter = 'logit_bound') as logit_bound
    from parameters
    group by metric_name
),

inputs as (
    select
        evaluations.interaction_id,
        evaluations.metric_name,
        slopes.slope * case
            when slopes.logit_bound is null then evaluations.raw_score
            else
                ln(greatest(slopes.logit_bound, least(1 - slopes.logit_bound, evaluations.raw_score)))
                - ln(1 - greatest(slopes.logit_bound, least(1 - slopes.logit_bound, evaluations.raw_score)))
        end as log_odds
    from evaluations
    inner join slopes on evaluations.metric_name = slopes.metric_name
),

-- P(label >= k) is 1 at point 0 and falls over the cut points
reached as (
    select
        inputs.interaction_id,
        inputs.metric_name,
        quantiles.label as scale_point,
        quantiles.quantile,
        quantiles.is_conformalized,
        coalesce(1 / (1 + exp(-(inputs.log_odds - parameters.value))), 1) as at_least
    from inputs
    inner join quantiles on inputs.metric_name = quantiles.metric_name
    left join parameters
        on
            quantiles.metric_name = parameters.metric_name
            and parameters.parameter = 'cut_point'
            and quantiles.label = parameters.position
),

weighed as (
    select
        *,
        at_least - coalesce(
            lead(at_least) over (partition by interaction_id, metric_name order by scale_point), 0
        ) as probability
    from reached
),

final as (
    select
        interaction_id,
        metric_name,
        {{ ordered_array(
            'scale_point', 'scale_point', 'not is_conformalized or 1 - probability <= quantile'
        ) }} as scale_points,
        if(bool_and(is_conformalized), 'conformalized', 'insufficient') as scale_points_status
    from weighed
    group by interaction_id, metric_name
)

select * from final
