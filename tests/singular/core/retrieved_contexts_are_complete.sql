-- Every retrieved passage has its row, and each passage that a metric read has its text there.
select
    coalesce(retrievals.interaction_id, contexts.interaction_id) as interaction_id,
    coalesce(retrievals.rank, contexts.rank) as rank
from {{ ref('hcat', 'stg_retrievals') }} as retrievals
full outer join {{ ref('hcat', 'fct_retrieved_contexts') }} as contexts
    on retrievals.interaction_id = contexts.interaction_id and retrievals.rank = contexts.rank
left join {{ ref('hcat', 'int_interaction_passages') }} as passages
    on
        retrievals.interaction_id = passages.interaction_id
        and retrievals.rank = passages.position
        and passages.role = 'context'
where
    retrievals.interaction_id is null
    or contexts.interaction_id is null
    or (passages.passage_text is not null and contexts.context_text is null)
