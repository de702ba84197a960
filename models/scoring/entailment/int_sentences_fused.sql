-- One row per (interaction, answer sentence) with the probability that the sentence is supported, and what each signal
-- adds to it. A monotone logistic (hcat.metrics.fusion) gives it, with the parameters of the seed groundedness_prior.
{{ config(materialized='table') }}
{%- set bound = var('hcat_entailment_logit_bound') %}

with entailed as (
    select * from {{ ref('int_sentences_entailed') }}
),

units as (
    select * from {{ ref('int_interaction_units') }}
),

supported as (
    select * from {{ ref('int_sentences_supported') }}
),

matches as (
    select * from {{ ref('int_sentence_matches') }}
    where comparison = 'answer_to_context'
),

priors as (
    select * from {{ ref('groundedness_prior') }}
),

fitted as (
    select max(priors.classifier_name) as classifier_name
    from priors
    inner join {{ ref('int_classifier') }} as classifier on priors.classifier_name = classifier.classifier_name
),

parameters as (
    -- A classifier without rows of its own uses the rows of the shipped default classifier.
    select
        priors.feature,
        priors.coefficient,
        priors.center,
        priors.scale
    from priors
    cross join fitted
    where priors.classifier_name = coalesce(fitted.classifier_name, 'hcat-entailment-compact')
),

intercept as (
    select coefficient from parameters
    where feature = 'intercept'
),

features as (
    select
        entailed.interaction_id,
        entailed.sentence_index,
        greatest(
            -{{ bound }},
            least(
                {{ bound }},
                -- The log odds of entailment; the probability is kept away from 0 and 1.
                ln(greatest(entailed.probability_entailment, exp(-{{ bound }} - 1)))
                - ln(greatest(1 - entailed.probability_entailment, exp(-{{ bound }} - 1)))
            )
        )::double as entailment_logit,
        matches.similarity::double as similarity,
        -- A sentence without content words claims nothing by its words.
        coalesce(supported.count_words_supported / nullif(supported.count_words, 0)::double, 1)::double
            as share_words_supported,
        entailed.overlap::double as evidence_overlap,
        least(
            supported.count_numbers - supported.count_numbers_supported, {{ var('hcat_unsupported_bound') }}
        )::double as count_numbers_unsupported,
        least(
            supported.count_entities - supported.count_entities_supported, {{ var('hcat_unsupported_bound') }}
        )::double as count_entities_unsupported,
        least({{ array_length('supported.contradicted') }}, {{ var('hcat_unsupported_bound') }})::double
            as count_fields_contradicted,
        -- The first unsupported word says more than the tenth, hence the logarithm.
        ln(1 + supported.count_words - supported.count_words_supported)::double as log_words_unsupported
    from entailed
    inner join units on entailed.interaction_id = units.interaction_id
    inner join supported
        on
            entailed.interaction_id = supported.interaction_id
            and units.input_key = supported.input_key
            and entailed.sentence_index = supported.sentence_index
    inner join matches
        on entailed.interaction_id = matches.interaction_id and entailed.sentence_index = matches.sentence_index
),

features_listed as (
    {%- for feature in [
        'entailment_logit', 'similarity', 'share_words_supported', 'evidence_overlap', 'count_numbers_unsupported',
        'count_entities_unsupported', 'count_fields_contradicted', 'log_words_unsupported'
    ] %}
    select
        interaction_id,
        sentence_index,
        '{{ feature }}' as feature,
        {{ feature }} as signal
    from features
    {% if not loop.last %}union all{% endif %}
    {%- endfor %}
),

contributed as (
    select
        features_listed.interaction_id,
        features_listed.sentence_index,
        features_listed.feature,
        parameters.coefficient * (features_listed.signal - parameters.center) / parameters.scale as contribution
    from features_listed
    inner join parameters on features_listed.feature = parameters.feature
),

summed as (
    select
        interaction_id,
        sentence_index,
        {{ exact_sum('contribution') }} as contribution,
        {{ joined_text("feature || ' ' || printf('%+.2f', contribution)", "', '", 'contribution, feature') }}
            as contributions
    from contributed
    group by interaction_id, sentence_index
),

final as (
    select
        summed.interaction_id,
        summed.sentence_index,
        summed.contributions,
        intercept.coefficient + summed.contribution as support_log_odds,
        1 / (1 + exp(-(intercept.coefficient + summed.contribution))) as support_probability
    from summed
    cross join intercept
)

select * from final
