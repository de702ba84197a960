{{ config(materialized='table') }}

with interactions as (
    select * from {{ ref('hcat', 'int_interactions') }}
),

passages as (
    {%- for role, column in [('query', 'query_text'), ('answer', 'answer'), ('reference', 'reference_answer')] %}
    select
        interaction_id,
        '{{ role }}' as role,
        0 as position,
        null::double as completeness_weight,
        {{ column }} as passage_text
    from interactions
    union all
    {%- endfor %}
    select
        retrievals.interaction_id,
        'context' as role,
        retrievals.rank as position,
        retrievals.completeness_weight,
        -- The logged text is what the application saw. The corpus only fills in a missing text.
        case when {{ is_blank('retrievals.text') }} then chunks.chunk_text else retrievals.text end as passage_text
    from {{ ref('hcat', 'stg_retrievals') }} as retrievals
    left join {{ ref('hcat', 'stg_chunks') }} as chunks on retrievals.chunk_id = chunks.chunk_id
    {%- if var('hcat_earlier_turns_are_evidence') %}
    union all
    -- What the assistant said is no evidence: it would prove itself.
    select distinct
        turns.interaction_id,
        'statement' as role,
        -- turns back, so that a statement is never taken for a retrieved passage
        earlier.turn_index - turns.turn_index as position,
        null::double as completeness_weight,
        earlier.query_text as passage_text
    from interactions as turns
    inner join interactions as earlier
        on turns.conversation_key = earlier.conversation_key and turns.turn_index > earlier.turn_index
    {%- endif %}
),

final as (
    select
        interaction_id,
        role,
        -- The key contains the revision, so that a change of the rules splits and classifies every passage again.
        md5('{{ revision_of("scoring") }}|' || passage_text) as passage_id,
        passage_text,
        position,
        completeness_weight
    from passages
    where not {{ is_blank('passage_text') }}
)

select * from final
