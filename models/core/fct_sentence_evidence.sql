{{ config(
    materialized='table',
    pre_hook="{{ cut_into_buckets() }}",
    post_hook="{{ insert_other_buckets() }}"
) }}

{#- no backslash: the engines read one differently -#}
{%- set claims = ' and not supported.claims_nothing' %}
{%- set is_flagged = 'located.support_probability < decisions.least_support' ~ claims %}
{%- set is_contradicted = 'entailed.contradiction_probability > decisions.largest_contradiction' ~ claims %}
{%- set negation = "(^|[^a-z])(no|not|never|none|neither|nor|cannot|without)([^a-z]|$)|n[^a-z ]t([^a-z]|$)" %}
-- Interactions are joined bucket by bucket: their lists of sentences and of private values exceed the memory at scale.
with matches as (
    select *
    from {{ ref('hcat', 'int_sentence_matches') }}
    where
        comparison = 'answer_to_context'
        and {{ is_in_bucket('interaction_id') }}
),

units as (
    select * from {{ ref('hcat', 'int_interaction_units') }}
    where {{ is_in_bucket('interaction_id') }}
),

answer_sentences as (
    select * from {{ ref('hcat', 'int_answer_sentences') }}
    where {{ is_in_bucket('interaction_id') }}
),

supported as (
    select
        *,
        -- whether fewer words are found than missing, in each claim of the answer
        bool_and(count_words_supported < count_words - count_words_supported or claims_nothing) over (
            partition by interaction_id, input_key
        ) as is_strange_answer
    from {{ ref('hcat', 'int_sentences_supported') }}
    where {{ is_in_bucket('interaction_id') }}
),

entailed as (
    select * from {{ ref('hcat', 'int_sentences_entailed') }}
    where {{ is_in_bucket('interaction_id') }}
),

fused as (
    select * from {{ ref('hcat', 'int_sentences_fused') }}
    where {{ is_in_bucket('interaction_id') }}
),

decisions as (
    select
        max(case when decision_name = 'sentence_support' then threshold end) as least_support,
        max(case when decision_name = 'sentence_contradiction' then threshold end) as largest_contradiction
    from {{ ref('hcat', 'int_threshold_decisions') }}
),

texts as (
    select text_id, encoded_text from {{ ref('hcat', 'int_texts') }}
),

private_values as (
    select * from {{ ref('hcat', 'int_interaction_privacy_values') }}
    where {{ is_in_bucket('interaction_id') }}
),

retrievals as (
    select interaction_id, rank, min(chunk_id) as chunk_id
    from {{ ref('hcat', 'stg_retrievals') }}
    where {{ is_in_bucket('interaction_id') }}
    group by interaction_id, rank
),

located as (
    select
        matches.interaction_id,
        matches.sentence_index,
        matches.similarity,
        units.input_key,
        answer_sentences.text_id,
        -- List positions start at 1, sentence numbers at 0.
        {{ array_at('(' ~ evidence_of_turn('text_ids') ~ ')', 'matches.match_index + 1') }} as evidence_text_id,
        {{ array_at('(' ~ evidence_of_turn('ranks') ~ ')', 'matches.match_index + 1') }} as evidence_rank,
        fused.contributions,
        fused.support_probability,
        -- Batching changes the last bits of a score. Rounding keeps it from changing the least grounded sentence.
        row_number() over (
            partition by matches.interaction_id
            order by
                {{ without_noise('coalesce(fused.support_probability, matches.similarity)') }},
                matches.sentence_index
        ) as weakness_rank
    from matches
    inner join units on matches.interaction_id = units.interaction_id
    inner join answer_sentences
        on
            matches.interaction_id = answer_sentences.interaction_id
            and matches.sentence_index = answer_sentences.sentence_index
    left join fused
        on matches.interaction_id = fused.interaction_id and matches.sentence_index = fused.sentence_index
),

final as (
    select
        -- ids
        md5(located.interaction_id || '|' || located.sentence_index) as sentence_id,
        located.interaction_id,
        retrievals.chunk_id as evidence_chunk_id,

        -- strings
        -- noqa: disable=PRS,LT02
        -- The linter cannot parse a lambda of two variables.
        {{ mask_values('sentences.encoded_text', 'private_values.private_values') }} as sentence_text,
        -- The deciding window; without a classifier the most similar context sentence.
        {{ mask_values('coalesce(entailed.premise, evidence.encoded_text)', 'private_values.private_values') }}
            as evidence_text,
        {{ mask_values('entailed.contradicting_premise', 'private_values.private_values') }} as contradicting_text,
        -- noqa: enable=PRS,LT02
        {{ array_join(mask_words('supported.unsupported', 'private_values.private_values'), ', ') }} as unsupported,
        {{ array_join(mask_words('supported.contradicted', 'private_values.private_values'), ', ') }} as contradicted,
        {{ array_join(mask_words('supported.displaced', 'private_values.private_values'), ', ') }} as displaced,
        {{ array_join(mask_words('supported.computed', 'private_values.private_values'), ', ') }} as computed,
        case
            when not coalesce({{ is_flagged }}, false) and not coalesce({{ is_contradicted }}, false) then null
            when {{ array_length('supported.contradicted') }} > 0 then 'table_cell'
            when supported.is_strange_answer then 'off_topic'
            when supported.count_words_supported < supported.count_words - supported.count_words_supported then 'invented'
            when supported.mention_fault is not null then supported.mention_fault
            when
                {{ matches_pattern('lower(sentences.encoded_text)', negation) }}
                <> {{ matches_pattern('lower(evidence.encoded_text)', negation) }}
                then 'negation'
            when {{ is_contradicted }} then 'other_contradiction'
            else 'invented'
        end as fault_kind,
        entailed.classifier_name,
        entailed.classifier_revision,
        entailed.deciding_classifier,
        located.contributions as support_contributions,

        -- numerics
        located.sentence_index::integer as sentence_index,
        coalesce(entailed.evidence_rank, located.evidence_rank)::integer as evidence_rank,
        located.similarity,
        entailed.score as entailment_score,
        entailed.probability_entailment as entailment_probability,
        entailed.contradiction_probability,
        located.support_probability,
        entailed.count_windows::integer as count_windows,
        supported.count_words,
        supported.count_words_supported,
        supported.count_numbers,
        supported.count_numbers_supported,
        supported.count_entities,
        supported.count_entities_supported,
        supported.number_displacement,
        supported.entity_displacement,

        -- booleans
        located.weakness_rank = 1 as is_least_grounded,
        supported.claims_nothing,
        {{ is_flagged }} as is_flagged,
        {{ is_contradicted }} as is_contradicted,
        entailed.was_truncated as was_evidence_truncated
    from located
    inner join texts as sentences on located.text_id = sentences.text_id
    inner join texts as evidence on located.evidence_text_id = evidence.text_id
    inner join supported
        on
            located.interaction_id = supported.interaction_id
            and located.input_key = supported.input_key
            and located.sentence_index = supported.sentence_index
    left join entailed
        on
            located.interaction_id = entailed.interaction_id
            and located.sentence_index = entailed.sentence_index
    left join private_values on located.interaction_id = private_values.interaction_id -- noqa: ST11
    cross join decisions
    left join retrievals
        on
            located.interaction_id = retrievals.interaction_id
            and coalesce(entailed.evidence_rank, located.evidence_rank) = retrievals.rank
)

select * from final
