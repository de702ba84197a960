-- The score is 1 minus SelfCheckGPT with NLI (Manakul et al. 2023, section 5.4). That method compares contradiction
-- with entailment, leaves out the neutral class and averages over the other answers and the sentences.
with pairs as (
    select * from {{ ref('hcat', 'int_text_pairs') }}
    where purpose = 'other_answer'
),

entailed as (
    select pairs_entailed.*
    from {{ ref('hcat', 'int_pairs_entailed') }} as pairs_entailed
    inner join {{ ref('hcat', 'int_classifier') }} as classifier
        on pairs_entailed.classifier_key = classifier.classifier_key
),

scored as (
    select
        pairs.interaction_id,
        pairs.sentence_index,
        -- A classifier of two classes has no contradiction. All that is not entailment stands for it.
        entailed.probability_entailment
        / (
            entailed.probability_entailment
            + coalesce(entailed.probability_contradiction, 1 - entailed.probability_entailment)
        ) as consistency,
        entailed.was_truncated
    from pairs
    inner join entailed on pairs.pair_id = entailed.pair_id
),

by_sentence as (
    select
        interaction_id,
        sentence_index,
        {{ exact_mean('consistency') }} as consistency,
        max(was_truncated) as was_truncated,
        count(*) as count_samples
    from scored
    group by interaction_id, sentence_index
),

aggregated as (
    select
        interaction_id,
        'selfcheck_entailment' as metric_name,
        {{ exact_mean('consistency') }} as raw_score,
        max(was_truncated) as was_truncated,
        count(*) as scored_count,
        max(count_samples) as count_samples,
        {%- set rounded = without_noise('consistency') %}
        min_by(sentence_index, {{ record({'score': rounded, 'sentence': 'sentence_index'}) }}) as worst_sentence_index
    from by_sentence
    group by interaction_id
)

{{ evaluations('aggregated',
    score_status="case when was_truncated then 'truncated' else 'scored' end",
    detail="'sentence ' || worst_sentence_index || ' least borne out by ' || count_samples || ' other answers'"
) }}
