-- One row per (interaction, metric) with a calibrated probability, with the labels that cannot be ruled out at the
-- level in force. Label y is in the set if and only if 1 - P(y) <= q, where q is the quantile of its class and stratum.
{{ config(materialized='table') }}

with calibrated as (
    select * from {{ ref('int_evaluations_calibrated') }}
),

strata as (
    select * from {{ ref('int_interaction_strata') }}
),

quantiles as (
    select * from {{ ref('int_conformal_quantiles') }}
    where stratification = 'label_conditional' and alpha = {{ var('hcat_conformal_alpha') }}
),

-- One row per (metric, stratum). If one class has no quantile, its whole stratum has none.
cells as (
    select
        metric_name,
        stratum,
        bool_and(status = 'conformalized') as is_conformalized,
        max(quantile) filter (where label = 1) as quantile_accepted,
        max(quantile) filter (where label = 0) as quantile_failed
    from quantiles
    group by metric_name, stratum
),

located as (
    select
        calibrated.interaction_id,
        calibrated.metric_name,
        calibrated.calibrated_probability,
        coalesce(own_cells.is_conformalized, other_cells.is_conformalized, false) as is_conformalized,
        coalesce(own_cells.quantile_accepted, other_cells.quantile_accepted) as quantile_accepted,
        coalesce(own_cells.quantile_failed, other_cells.quantile_failed) as quantile_failed
    from calibrated
    inner join strata on calibrated.interaction_id = strata.interaction_id
    left join cells as own_cells
        on calibrated.metric_name = own_cells.metric_name and strata.stratum = own_cells.stratum
    left join cells as other_cells
        on
            calibrated.metric_name = other_cells.metric_name
            and other_cells.stratum = 'other'
            and own_cells.stratum is null
),

judged as (
    select
        *,
        not is_conformalized or 1 - calibrated_probability <= quantile_accepted as holds_accepted,
        not is_conformalized or calibrated_probability <= quantile_failed as holds_failed
    from located
),

final as (
    select
        interaction_id,
        metric_name,
        case
            when holds_accepted and holds_failed then 'accepted|failed'
            when holds_accepted then 'accepted'
            when holds_failed then 'failed'
            else 'empty'
        end as prediction_set,
        if(is_conformalized, 'conformalized', 'insufficient') as prediction_set_status
    from judged
)

select * from final
