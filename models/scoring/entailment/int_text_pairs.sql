-- Pairs are the evidence of a sentence, another answer to the same query, or the true answer. Pair and key of the
-- classifier are the content key of an entailment.
{{ config(materialized='table') }}

with pairs as (
    select
        'evidence' as purpose,
        interaction_id, pair_id, premise, claim, is_denied, is_elliptic, sentence_index, evidence_rank,
        overlap
    from {{ ref('hcat', 'int_evidence_windows') }}
    {%- if is_on('selfcheck') %}
    union all
    select
        'other_answer' as purpose,
        interaction_id, pair_id, premise, claim,
        false as is_denied,
        false as is_elliptic,
        sentence_index,
        null as evidence_rank,
        null as overlap
    from {{ ref('hcat', 'int_sample_pairs') }}
    {%- endif %}
    {%- if is_on('robustness') %}
    union all
    select
        'true_answer' as purpose,
        interaction_id, pair_id, premise, claim,
        false as is_denied,
        false as is_elliptic,
        null as sentence_index,
        null as evidence_rank,
        null as overlap
    from {{ ref('hcat', 'int_correctness_pairs') }}
    {%- endif %}
),

classifier as (
    -- A classifier that is switched off reads nothing.
    select classifier_key from {{ ref('hcat', 'int_classifier') }}
    where location <> 'none'
),

final as (
    select
        pairs.*,
        classifier.classifier_key,
        length(pairs.premise) + length(pairs.claim) as count_characters
    from pairs
    cross join classifier
)

select * from final
