-- One row per interaction of the latest release of its application that answers a real query, that is, a query that
-- nobody prepared for a test.
with interactions as (
    select * from {{ ref('hcat', 'int_interactions') }}
),

origins as (
    select * from {{ ref('hcat', 'int_interaction_origins') }}
),

versions as (
    select
        coalesce(application, '') as application,
        coalesce(application_version, '') as application_version,
        min(asked_at) as first_asked_at
    from interactions
    group by coalesce(application, ''), coalesce(application_version, '')
),

latest as (
    select application, application_version
    from versions
    qualify row_number() over (
            partition by application order by first_asked_at desc nulls last, application_version desc
        ) = 1
),

final as (
    select interactions.interaction_id, interactions.system
    from interactions
    inner join origins on interactions.interaction_id = origins.interaction_id
    inner join latest
        on
            coalesce(interactions.application, '') = latest.application
            and coalesce(interactions.application_version, '') = latest.application_version
    where interactions.is_answered and origins.origin = 'production'
)

select * from final
