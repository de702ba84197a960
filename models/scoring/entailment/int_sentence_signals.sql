-- Each signal is bounded, so that one extreme value decides nothing.
-- Of the numbers or names that no context contains, this many count: the labels taught nothing beyond.
{%- set bound = 3 %}

with matches as (
    select * from {{ ref('hcat', 'int_sentence_matches') }}
    where comparison = 'answer_to_context'
),

final as (
    select
        entailed.interaction_id,
        entailed.sentence_index,
        supported.claims_nothing,
        {{ bounded_log_odds('entailed.probability_entailment') }} as entailment_logit,
        -- null for a classifier without a class for contradiction
        {{ bounded_log_odds('entailed.probability_contradiction') }} as contradiction_logit,
        matches.similarity::double as similarity,
        -- A sentence without content words claims nothing by its words.
        coalesce(supported.count_words_supported / nullif(supported.count_words, 0)::double, 1)::double
            as share_words_supported,
        entailed.overlap::double as evidence_overlap,
        least(supported.count_numbers - supported.count_numbers_supported, {{ bound }})::double
            as count_numbers_unsupported,
        least(supported.count_entities - supported.count_entities_supported, {{ bound }})::double
            as count_entities_unsupported,
        least({{ array_length('supported.contradicted') }}, {{ bound }})::double as count_fields_contradicted,
        coalesce(supported.number_displacement, 0)::double as number_displacement,
        coalesce(supported.entity_displacement, 0)::double as entity_displacement
    from {{ ref('hcat', 'int_sentences_entailed') }} as entailed
    inner join {{ ref('hcat', 'int_interaction_units') }} as units on entailed.interaction_id = units.interaction_id
    inner join {{ ref('hcat', 'int_sentences_supported') }} as supported
        on
            entailed.interaction_id = supported.interaction_id
            and units.input_key = supported.input_key
            and entailed.sentence_index = supported.sentence_index
    inner join matches
        on entailed.interaction_id = matches.interaction_id and entailed.sentence_index = matches.sentence_index
)

select * from final
