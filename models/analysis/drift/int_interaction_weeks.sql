-- One row per interaction, with the Monday of its week and whether that week is over. Only complete weeks are compared.
{{ config(materialized='table') }}

with interactions as (
    select * from {{ ref('hcat', 'int_interactions_described') }}
),

latest as (
    select
        date_trunc('week', max(asked_at))::date as latest_week,
        max(asked_at)::date as latest_day
    from interactions
),

dated as (
    select
        interactions.interaction_id,
        interactions.cluster_id,
        date_trunc('week', interactions.asked_at)::date as week_start,
        latest.latest_week,
        latest.latest_day
    from interactions
    cross join latest
),

final as (
    select
        interaction_id,
        cluster_id,
        week_start,
        case
            when week_start is null then 'no_timestamp'
            when week_start < latest_week then 'complete'
            -- a week is over if the logs reach its closing day
            when {{ days_between('week_start', 'latest_day') }} >= {{ var('hcat_drift_closing_day') }} - 1
                then 'complete'
            else 'incomplete'
        end as week_status
    from dated
)

select * from final
