-- The sentences of the premise keep the order of the context. A short answer is read with its question: "No." denies
-- what was asked.
with evidence as (
    select
        units.interaction_id,
        units.evidence_key,
        {{ evidence_of_turn('text_ids') }} as context_text_ids,
        {{ evidence_of_turn('ranks') }} as context_ranks
    from {{ ref('hcat', 'int_interaction_units') }} as units
),

current_rows as (
    select
        windowed.*,
        evidence.context_text_ids,
        -- of the sentence that was chosen first; list positions start at 1, sentence numbers at 0
        {{ array_at('evidence.context_ranks', array_at('windowed.chosen_indices', 1) ~ ' + 1') }} as evidence_rank
    from {{ ref('hcat', 'int_sentences_windowed') }} as windowed
    inner join evidence
        on windowed.interaction_id = evidence.interaction_id and windowed.evidence_key = evidence.evidence_key
),

positions as (
    select
        interaction_id,
        sentence_index,
        context_text_ids,
        {{ explode('chosen_indices') }} as context_index
    from current_rows
),

premises as (
    select
        positions.interaction_id,
        positions.sentence_index,
        {{ joined_text('texts.encoded_text', "' '", 'positions.context_index') }} as premise
    from positions
    inner join {{ ref('hcat', 'int_texts') }} as texts
        on {{ array_at('positions.context_text_ids', 'positions.context_index + 1') }} = texts.text_id
    group by positions.interaction_id, positions.sentence_index
),

final as (
    select
        current_rows.*,
        {{ text_pair_id('premises.premise', 'current_rows.claim_id') }} as pair_id,
        premises.premise
    from current_rows
    inner join premises
        on
            current_rows.interaction_id = premises.interaction_id
            and current_rows.sentence_index = premises.sentence_index
)

select * from final
