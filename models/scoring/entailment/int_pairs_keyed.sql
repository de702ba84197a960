-- One row per distinct (premise, hypothesis) with the key of this build's classifier. Pair and key together are the
-- content key of an entailment.
{{ config(materialized='view') }}
with pairs as (
    select pair_id, premise, hypothesis from {{ ref('hcat', 'int_evidence_windows') }}
    {%- if is_on('selfcheck') %}
    union all
    -- Answers that are compared with other answers to the same query.
    select pair_id, premise, hypothesis from {{ ref('hcat', 'int_sample_pairs') }}
    {%- endif %}
    {%- if is_on('robustness') %}
    union all
    -- Answers that are compared with true answers.
    select pair_id, premise, hypothesis from {{ ref('hcat', 'int_correctness_pairs') }}
    {%- endif %}
),

windows as (
    select
        pair_id,
        min(premise) as premise,
        min(hypothesis) as hypothesis
    from pairs
    group by pair_id
),

classifier as (
    -- A classifier that is switched off reads nothing.
    select * from {{ ref('hcat', 'int_classifier') }}
    where location <> 'none'
),

final as (
    select
        windows.pair_id,
        classifier.classifier_key,
        windows.premise,
        windows.hypothesis,
        length(windows.premise) + length(windows.hypothesis) as count_characters
    from windows
    cross join classifier
)

select * from final
