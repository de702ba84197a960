-- A semantic model needs evaluations and what they are grouped by in one relation.
with interactions as (
    select interaction_id, cluster_id, asked_at from {{ ref('hcat', 'fct_interactions') }}
),

final as (
    select
        -- ids
        evaluations.evaluation_id,
        evaluations.interaction_id,
        interactions.cluster_id,

        -- strings
        evaluations.metric_name,
        evaluations.score_status,

        -- numerics
        evaluations.raw_score,
        evaluations.calibrated_probability,
        evaluations.human_label,

        -- booleans
        evaluations.raw_score is not null as is_scored,
        evaluations.is_failing,

        -- timestamps
        interactions.asked_at
    from {{ ref('hcat', 'fct_evaluations') }} as evaluations
    inner join interactions on evaluations.interaction_id = interactions.interaction_id
)

select * from final
