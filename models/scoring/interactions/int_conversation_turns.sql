-- The logged numbers count where every record of the conversation has one, else the order of time and id.
with interactions as (
    select
        interaction_id,
        conversation_id,
        application,
        turn_index,
        asked_at,
        -- A test may lead the same conversation with several versions, in several runs, and several times.
        md5(
            concat_ws(
                '|',
                conversation_id,
                coalesce(application, ''),
                coalesce(application_version, ''),
                coalesce(run_id, ''),
                coalesce(sample_index, 0)::string
            )
        ) as conversation_key
    from {{ ref('hcat', 'stg_interactions') }}
    where conversation_id is not null
),

first_numbers as (
    select application, min(turn_index) as first_number
    from interactions
    group by application
),

numbered as (
    select
        interactions.*,
        -- An application whose logs hold a turn 0 counts from 0.
        interactions.turn_index + case when first_numbers.first_number = 0 then 1 else 0 end as logged_turn,
        row_number() over (
            partition by interactions.conversation_key
            order by interactions.asked_at nulls last, interactions.interaction_id
        ) as place
    from interactions
    left join first_numbers on interactions.application is not distinct from first_numbers.application
),

counted as (
    select
        conversation_key,
        count(*) = count(logged_turn) as is_numbered
    from numbered
    group by conversation_key
),

decided as (
    select
        numbered.interaction_id,
        numbered.conversation_id,
        numbered.conversation_key,
        case when counted.is_numbered then numbered.logged_turn else numbered.place end::integer as turn_index
    from numbered
    inner join counted on numbered.conversation_key = counted.conversation_key
),

final as (
    select
        *,
        max(turn_index) over (partition by conversation_key) as count_turns
    from decided
)

select * from final
