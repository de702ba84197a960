-- One row per interaction: its stratum of the conformal sets, a segment of the dimension hcat_conformal_dimension.
with segments as (
    select * from {{ ref('int_interaction_segments') }}
    where dimension = '{{ var("hcat_conformal_dimension") }}'
),

interactions as (
    select interaction_id from {{ ref('int_interactions_joined') }}
),

final as (
    select
        interactions.interaction_id,
        -- a stratum without a quantile of its own falls to the same cell
        coalesce(min(segments.segment), 'other') as stratum
    from interactions
    left join segments on interactions.interaction_id = segments.interaction_id
    group by interactions.interaction_id
)

select * from final
