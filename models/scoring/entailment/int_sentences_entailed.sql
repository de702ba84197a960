-- One row per (interaction, answer sentence) with the window that supports the sentence best, which is the deciding
-- evidence, and the one that contradicts it most.
{{ config(materialized='table') }}

with windows as (
    select
        interaction_id,
        pair_id,
        premise,
        hypothesis,
        sentence_index,
        window_index,
        evidence_rank,
        similarity,
        overlap
    from {{ ref('hcat', 'int_text_pairs') }}
    where purpose = 'evidence'
),

entailed as (
    select pairs_entailed.*
    from {{ ref('hcat', 'int_pairs_entailed') }} as pairs_entailed
    inner join {{ ref('hcat', 'int_classifier') }} as classifier
        on pairs_entailed.classifier_key = classifier.classifier_key
),

joined as (
    select
        windows.*,
        entailed.classifier_name,
        entailed.classifier_revision,
        entailed.deciding_classifier,
        entailed.first_probability_entailment,
        entailed.first_probability_contradiction,
        entailed.probability_entailment,
        entailed.probability_contradiction,
        entailed.logit_entailment,
        entailed.weight_norm,
        entailed.distance,
        entailed.score,
        entailed.margin,
        entailed.was_truncated,
        count(*) over (partition by windows.interaction_id, windows.sentence_index) as count_windows,
        max(entailed.probability_contradiction) over (
            partition by windows.interaction_id, windows.sentence_index
        ) as contradiction_probability,
        first_value(windows.premise) over (
            partition by windows.interaction_id, windows.sentence_index
            order by
                {{ without_noise('entailed.probability_contradiction') }} desc nulls last,
                windows.window_index
        ) as contradicting_premise
    from windows
    inner join entailed on windows.pair_id = entailed.pair_id
),

final as (
    select *
    from joined
    qualify
        -- Batching changes the last bits of a score. Rounding keeps it from changing the deciding window.
        row_number() over (
            partition by interaction_id, sentence_index
            order by {{ without_noise('score') }} desc, window_index
        ) = 1
)

select * from final
