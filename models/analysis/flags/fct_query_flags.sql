with flags as (
    select *
    from {{ ref('hcat', 'int_query_flags') }}
    where is_flagged
),

interactions as (
    select * from {{ ref('hcat', 'fct_interactions') }}
),

final as (
    select
        flags.query_flag_id,
        flags.interaction_id,
        interactions.query_id,
        interactions.cluster_id,
        interactions.system,
        flags.flag_name,
        flags.subject,
        flags.evidence,
        interactions.expected_behaviour,
        flags.score,
        flags.threshold,
        interactions.is_answered,
        interactions.is_refusal
    from flags
    inner join interactions on flags.interaction_id = interactions.interaction_id
)

select * from final
