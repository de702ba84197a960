-- One row per (interaction, metric) labelled in a plain random sample: only their promises hold for new answers.
with labels as (
    select * from {{ ref('int_labels') }}
    where is_audit
),

strata as (
    select * from {{ ref('int_interaction_strata') }}
),

final as (
    select
        labels.*,
        strata.stratum
    from labels
    inner join strata on labels.interaction_id = strata.interaction_id
)

select * from final
