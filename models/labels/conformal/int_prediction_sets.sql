-- One row per (interaction, metric) with a calibrated probability, with the labels that cannot be ruled out at the
-- level in force. A label is in the set if and only if the score is on its side of the limit of its class and stratum.
-- The limits of an interaction whose cluster has labels are those of the other clusters.
{{ config(materialized='table') }}

with calibrated as (
    select * from {{ ref('hcat', 'int_evaluations_calibrated') }}
),

scores as (
    select interaction_id, metric_name, raw_score from {{ ref('hcat', 'int_scores_located') }}
),

interactions as (
    select interaction_id, cluster_id from {{ ref('hcat', 'int_interactions_joined') }}
),

strata as (
    select * from {{ ref('hcat', 'int_interaction_strata') }}
),

targets as (
    select * from {{ ref('hcat', 'int_calibration_targets') }}
),

quantiles as (
    select * from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'quantiles' and stratification = 'label_conditional' and alpha = {{ var('hcat_conformal_alpha') }}
),

left_out as (
    select * from {{ ref('hcat', 'int_labels_fitted') }}
    where part = 'limits'
),

-- One row per (metric, stratum).
cells as (
    select
        metric_name,
        stratum,
        max(score_limit) filter (where label = 1) as limit_accepted,
        max(score_limit) filter (where label = 0) as limit_failed
    from quantiles
    group by metric_name, stratum
),

-- One row per (metric, stratum, cluster with labels). A limit can be null because the other clusters are too few.
cells_left_out as (
    select
        metric_name,
        stratum,
        cluster_id,
        bool_or(label = 1) as has_accepted,
        bool_or(label = 0) as has_failed,
        max(score_limit) filter (where label = 1) as limit_accepted,
        max(score_limit) filter (where label = 0) as limit_failed
    from left_out
    group by metric_name, stratum, cluster_id
),

located as (
    select
        calibrated.interaction_id,
        calibrated.metric_name,
        interactions.cluster_id,
        targets.direction,
        scores.raw_score,
        coalesce(own_cells.stratum, other_cells.stratum) as stratum,
        coalesce(own_cells.limit_accepted, other_cells.limit_accepted) as limit_accepted,
        coalesce(own_cells.limit_failed, other_cells.limit_failed) as limit_failed
    from calibrated
    inner join scores
        on calibrated.interaction_id = scores.interaction_id and calibrated.metric_name = scores.metric_name
    inner join interactions on calibrated.interaction_id = interactions.interaction_id
    inner join strata on calibrated.interaction_id = strata.interaction_id
    inner join targets on calibrated.metric_name = targets.metric_name
    left join cells as own_cells
        on calibrated.metric_name = own_cells.metric_name and strata.stratum = own_cells.stratum
    left join cells as other_cells
        on
            calibrated.metric_name = other_cells.metric_name
            and other_cells.stratum = 'other'
            and own_cells.stratum is null
),

limited as (
    select
        located.interaction_id,
        located.metric_name,
        located.direction,
        located.raw_score,
        case
            when cells_left_out.has_accepted then cells_left_out.limit_accepted else located.limit_accepted
        end as limit_accepted,
        case
            when cells_left_out.has_failed then cells_left_out.limit_failed else located.limit_failed
        end as limit_failed
    from located
    left join cells_left_out
        on
            located.metric_name = cells_left_out.metric_name
            and located.stratum = cells_left_out.stratum
            and located.cluster_id = cells_left_out.cluster_id
),

-- If one class has no limit, the set holds both labels.
judged as (
    select
        interaction_id,
        metric_name,
        limit_accepted is not null and limit_failed is not null as is_conformalized,
        case when direction = 'higher_is_better' then raw_score >= limit_accepted else raw_score <= limit_accepted end
            as is_like_accepted,
        case when direction = 'higher_is_better' then raw_score <= limit_failed else raw_score >= limit_failed end
            as is_like_failed
    from limited
),

final as (
    select
        interaction_id,
        metric_name,
        case
            when not is_conformalized or (is_like_accepted and is_like_failed) then 'accepted|failed'
            when is_like_accepted then 'accepted'
            when is_like_failed then 'failed'
            else 'empty'
        end as prediction_set,
        if(is_conformalized, 'conformalized', 'insufficient') as prediction_set_status
    from judged
)

select * from final
