-- Versions are compared over the release population of their application: users ask other questions than a test set.
-- A later turn is asked within its conversation, and pairs with the same turn of that one alone.
select
    interaction_id,
    {{ named('application') }} as application,
    application_version as version,
    case
        when turn_index > 1 then 'turn_' || turn_index || '_' || conversation_id
        else {{ query_key() }}
    end as query_key,
    cluster_id, second_cluster_id, query_text,
    date_trunc('day', asked_at)::date as asked_day
from {{ ref('hcat', 'int_interaction_attributes') }}
where
    application_version is not null
    and coalesce(query_id, query_text) is not null
qualify
    population
    = max(case when is_in_release_population then population end) over (partition by {{ named('application') }})
