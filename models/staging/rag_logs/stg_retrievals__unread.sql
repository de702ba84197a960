-- A rejected passage that was sent again under other details is no gap.

with retrievals as (
    select * from {{ ref('hcat', 'base_retrievals') }}
    where interaction_id is not null
),

staged as (
    select * from retrievals
    where record_status = 'staged'
),

chunks as (
    select chunk_id from {{ ref('hcat', 'base_chunks') }}
    where record_status = 'staged'
),

rejected as (
    select retrievals.interaction_id
    from retrievals
    left join staged
        on
            retrievals.interaction_id = staged.interaction_id
            and retrievals.text is not distinct from staged.text
            and retrievals.chunk_id is not distinct from staged.chunk_id
    where
        retrievals.record_status = 'rejected'
        and staged.interaction_id is null
        -- a blank text without an id is no passage that was lost
        and not (retrievals.text is not null and retrievals.chunk_id is null and {{ is_blank('retrievals.text') }})
),

-- an id alone, in logs without a corpus
textless as (
    select staged.interaction_id
    from staged
    left join chunks on staged.chunk_id = chunks.chunk_id
    where {{ is_blank('staged.text') }} and chunks.chunk_id is null
),

united as (
    select interaction_id, true as has_rejected_passage, false as has_unknown_text from rejected
    union all
    select interaction_id, false as has_rejected_passage, true as has_unknown_text from textless
),

final as (
    select
        interaction_id,
        bool_or(has_rejected_passage) as has_rejected_passage,
        bool_or(has_unknown_text) as has_unknown_text
    from united
    group by interaction_id
)

select * from final
