{{ config(enabled=is_on('conversations')) }}
-- Every conversation with one system has one row, with all of its turns and all of its failing interactions.
with turns as (
    select conversation_key, count(distinct turn_index) as count_logged_turns
    from {{ ref('hcat', 'int_conversation_turns') }}
    group by conversation_key
),

failing as (
    select interactions.conversation_key, count(distinct evaluations.interaction_id) as count_failing
    from {{ ref('hcat', 'fct_interactions') }} as interactions
    inner join {{ ref('hcat', 'fct_evaluations') }} as evaluations
        on interactions.interaction_id = evaluations.interaction_id
    where evaluations.is_failing
    group by interactions.conversation_key
)

select
    coalesce(turns.conversation_key, conversations.conversation_key) as conversation_key,
    turns.count_logged_turns,
    failing.count_failing
from turns
full outer join {{ ref('hcat', 'fct_conversations') }} as conversations
    on turns.conversation_key = conversations.conversation_key
left join failing on turns.conversation_key = failing.conversation_key
where
    turns.conversation_key is null
    or conversations.conversation_key is null
    or conversations.count_logged_turns <> turns.count_logged_turns
    or conversations.count_failing <> coalesce(failing.count_failing, 0)
