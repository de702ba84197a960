{{ config(
    materialized='table',
    pre_hook="{{ cut_into_buckets() }}",
    post_hook="{{ insert_other_buckets() }}"
) }}

{#- no backslash: the engines read one differently -#}
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
        matches.interaction_id, matches.sentence_index, matches.similarity, units.input_key, answer_sentences.text_id,
        -- List positions start at 1, sentence numbers at 0.
        {{ array_at('(' ~ evidence_of_turn('text_ids') ~ ')', 'matches.match_index + 1') }} as evidence_text_id,
        {{ array_at('(' ~ evidence_of_turn('ranks') ~ ')', 'matches.match_index + 1') }} as evidence_rank,
        fused.contributions,
        fused.support_probability,
        -- Batching changes the last bits of a score. Rounding keeps it from changing the least grounded sentence.
        row_number() over (
            partition by matches.interaction_id
            order by
                -- talk is the weakest sentence only of an answer that claims nothing
                coalesce(fused.claims_nothing, false),
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

judged as (
    select
        located.{{ columns_except(['evidence_rank', 'support_probability']) }},
        supported.{{ columns_except(['interaction_id', 'input_key', 'text_id', 'sentence_index']) }},
        entailed.premise, entailed.classifier_name, entailed.classifier_revision, entailed.deciding_classifier,
        coalesce(entailed.evidence_rank, located.evidence_rank) as evidence_rank,
        entailed.score, entailed.probability_entailment, entailed.probability_contradiction,
        located.support_probability, entailed.was_truncated,
        located.support_probability < decisions.least_support and not supported.claims_nothing as is_flagged,
        entailed.probability_contradiction > decisions.largest_contradiction and not supported.claims_nothing
            as is_contradicted
    from located
    inner join supported
        on
            located.interaction_id = supported.interaction_id
            and located.input_key = supported.input_key
            and located.sentence_index = supported.sentence_index
    left join entailed
        on
            located.interaction_id = entailed.interaction_id
            and located.sentence_index = entailed.sentence_index
    cross join decisions
),

final as (
    select
        -- ids
        md5(judged.interaction_id || '|' || judged.sentence_index) as sentence_id,
        judged.interaction_id,
        retrievals.chunk_id as evidence_chunk_id,

        -- strings
        -- noqa: disable=PRS,LT02
        -- The linter cannot parse a lambda of two variables.
        {{ mask_values('sentences.encoded_text', 'private_values.private_values') }} as sentence_text,
        -- The window; without a classifier the most similar context sentence.
        {{ mask_values('coalesce(judged.premise, evidence.encoded_text)', 'private_values.private_values') }}
            as evidence_text,
        {%- for words in ['unsupported', 'contradicted', 'displaced', 'computed'] %}
        {{ array_join(mask_words('judged.' ~ words, 'private_values.private_values'), ', ') }} as {{ words }},
        {%- endfor %}
        -- noqa: enable=PRS,LT02
        case
            when not coalesce(judged.is_flagged or judged.is_contradicted, false) then null
            when {{ matches_pattern(array_at('judged.contradicted', 1), '^[^≤≥]') }} then 'table_cell' -- and no bound
            when judged.is_strange_answer then 'off_topic'
            when judged.count_words_supported < judged.count_words - judged.count_words_supported then 'invented'
            when judged.mention_fault is not null then judged.mention_fault
            when
                {{ matches_pattern('lower(sentences.encoded_text)', negation) }}
                <> {{ matches_pattern('lower(evidence.encoded_text)', negation) }}
                then 'negation'
            when judged.is_contradicted then 'other_contradiction'
            else 'invented'
        end as fault_kind,
        judged.classifier_name,
        judged.classifier_revision,
        judged.deciding_classifier,
        judged.contributions as support_contributions,

        -- numerics
        judged.sentence_index::integer as sentence_index,
        judged.evidence_rank::integer as evidence_rank,
        judged.similarity,
        judged.score as entailment_score,
        judged.probability_entailment as entailment_probability,
        judged.probability_contradiction as contradiction_probability,
        judged.support_probability, judged.count_words, judged.count_words_supported, judged.count_numbers,
        judged.count_numbers_supported, judged.count_entities, judged.count_entities_supported,
        judged.number_displacement, judged.entity_displacement,

        -- booleans
        judged.weakness_rank = 1 as is_least_grounded,
        judged.claims_nothing,
        judged.is_flagged,
        judged.is_contradicted,
        judged.was_truncated as was_evidence_truncated
    from judged
    inner join texts as sentences on judged.text_id = sentences.text_id
    inner join texts as evidence on judged.evidence_text_id = evidence.text_id
    left join private_values on judged.interaction_id = private_values.interaction_id -- noqa: ST11
    left join retrievals
        on judged.interaction_id = retrievals.interaction_id and judged.evidence_rank = retrievals.rank
)

select * from final
