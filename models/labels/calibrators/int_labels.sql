-- One row per (interaction, metric) with the human label, the score and one of three folds, which keep clusters whole.
-- The fold is a hash of the cluster. It is the same in every build and does not depend on other clusters.
with labels as (
    select * from {{ ref('int_ratings_adjudicated') }}
),

targets as (
    select * from {{ ref('calibration_targets') }}
),

scales as (
    select criterion, count(*) as count_scale_points
    from {{ ref('rating_scales') }}
    group by criterion
),

evaluations as (
    select * from {{ ref('int_evaluations_completed') }}
    where raw_score is not null
),

interactions as (
    select interaction_id, cluster_id, system from {{ ref('int_interactions_joined') }}
),

strata as (
    select * from {{ ref('int_interaction_strata') }}
),

joined as (
    select
        labels.interaction_id,
        targets.metric_name,
        labels.criterion,
        interactions.cluster_id,
        interactions.system,
        strata.stratum,
        strata.segment,
        labels.rule,
        labels.guideline_version,
        labels.label,
        labels.scale_point,
        targets.accept_from,
        scales.count_scale_points,
        evaluations.raw_score,
        labels.inclusion_probability,
        labels.is_audit,
        labels.rated_at,
        {{ share_of_hash("'hcat fold|' || interactions.cluster_id") }} as position
    from labels
    inner join targets on labels.criterion = targets.criterion
    inner join scales on labels.criterion = scales.criterion
    inner join evaluations
        on labels.interaction_id = evaluations.interaction_id and targets.metric_name = evaluations.metric_name
    inner join interactions on labels.interaction_id = interactions.interaction_id
    inner join strata on labels.interaction_id = strata.interaction_id
    where labels.label is not null
),

final as (
    select
        {{ columns_except(['position']) }},
        case
            {%- set reached = namespace(share=0.0) %}
            {%- for fold, share in var('hcat_calibration_folds').items() %}
            {%- set reached.share = reached.share + share %}
            {%- if not loop.last %}
            when position < {{ reached.share }} then '{{ fold }}'
            {%- else %}
            else '{{ fold }}'
            {%- endif %}
            {%- endfor %}
        end as fold
    from joined
)

select * from final
