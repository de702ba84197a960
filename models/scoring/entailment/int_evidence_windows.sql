-- One row per (interaction, answer sentence, window) with the pair that the classifier reads. The sentences of the
-- premise keep the order of the context. A short answer is read with its question: "No." denies what was asked.
with windowed as (
    select * from {{ ref('hcat', 'int_sentences_windowed') }}
),

evidence as (
    select
        units.interaction_id,
        units.evidence_key,
        {{ evidence_of_turn('text_ids') }} as context_text_ids,
        {{ evidence_of_turn('ranks') }} as context_ranks
    from {{ ref('hcat', 'int_interaction_units') }} as units
),

texts as (
    select * from {{ ref('hcat', 'int_texts') }}
),

current_rows as (
    select
        windowed.*,
        evidence.context_text_ids,
        -- List positions start at 1, sentence numbers at 0.
        {{ array_at('evidence.context_ranks', array_at('windowed.context_indices', 1) ~ ' + 1') }} as evidence_rank
    from windowed
    inner join evidence
        on windowed.interaction_id = evidence.interaction_id and windowed.evidence_key = evidence.evidence_key
),

positions as (
    select
        interaction_id,
        sentence_index,
        window_index,
        context_text_ids,
        {{ explode('context_indices') }} as context_index
    from current_rows
),

premises as (
    select
        positions.interaction_id,
        positions.sentence_index,
        positions.window_index,
        {{ joined_text('texts.encoded_text', "' '", 'positions.context_index') }} as premise
    from positions
    inner join texts on {{ array_at('positions.context_text_ids', 'positions.context_index + 1') }} = texts.text_id
    group by positions.interaction_id, positions.sentence_index, positions.window_index
),

final as (
    select
        current_rows.interaction_id,
        md5(md5(premises.premise) || '|' || current_rows.hypothesis_id) as pair_id,
        premises.premise,
        current_rows.hypothesis,
        current_rows.is_denied,
        current_rows.is_elliptic,
        current_rows.sentence_index,
        current_rows.window_index,
        current_rows.evidence_rank,
        current_rows.similarity,
        current_rows.overlap
    from current_rows
    inner join premises
        on
            current_rows.interaction_id = premises.interaction_id
            and current_rows.sentence_index = premises.sentence_index
            and current_rows.window_index = premises.window_index
)

select * from final
