-- The table fct_evaluations must have a row for each of these pairs of interaction and metric.
{%- set inputs = [
    'query', 'answer', 'context', 'reference', 'relevance', 'classifier', 'samples', 'tagger', 'toxicity', 'sentiment',
    'cut_off', 'encoder', 'expectation'
] %}
{%- set missing = [
    ('not interactions.has_query and metrics.needs_query', 'query text'),
    ('not interactions.is_answered and metrics.needs_answer', 'answer'),
    ('not interactions.has_context and metrics.needs_context', 'context'),
    ('not interactions.has_reference and metrics.needs_reference', 'reference answer'),
    ('not interactions.has_graded_retrieval and metrics.needs_relevance', 'retrieved chunk ids with known relevance'),
    (
        'interactions.has_rejected_passage '
        ~ 'and (metrics.needs_relevance or (metrics.needs_context and interactions.has_context))',
        'a retrieved passage (it was rejected)'
    ),
    (
        'interactions.has_unknown_text and metrics.needs_context and interactions.has_context',
        'the text of a retrieved passage'
    ),
    ('not classifier.has_classifier and metrics.needs_classifier', 'entailment classifier'),
    ('not interactions.has_samples and metrics.needs_samples', 'another answer of the same run to the same query'),
    (
        'not interactions.is_tagged and metrics.needs_tagger',
        'recognition of names (switched off, or another language)'
    ),
    ('not text_classifiers.has_toxicity and metrics.needs_toxicity', 'toxicity model'),
    ('not text_classifiers.has_sentiment and metrics.needs_sentiment', 'sentiment model'),
    ('not cut_off.has_cut_off and metrics.needs_cut_off', 'cut-off decision'),
    ('not interactions.is_prepared and metrics.needs_expectation', 'whether the query is due an answer')
] %}
-- A retrieved passage is missing too where it was rejected or has no text: a score against the other passages would
-- blame the answer for what the logs lack.
-- Texts in which names were searched, among them the answers.
with texts_read as (
    select text_id, is_tagged from {{ ref('hcat', 'int_texts_recognisable') }}
    where is_tagged
),

samples as (
    select distinct interaction_id from {{ ref_if_on('selfcheck', 'int_interaction_samples', 'interaction_id') }}
),

-- joined here, once, and not for each metric
interactions as (
    select
        described.*,
        samples.interaction_id is not null as has_samples,
        coalesce(texts_read.is_tagged, false) as is_tagged
    from {{ ref('hcat', 'int_interaction_attributes') }} as described
    left join texts_read on md5(described.answer) = texts_read.text_id
    left join samples on described.interaction_id = samples.interaction_id
),

metrics as (
    select
        *,
        {%- for input in inputs %}
        requires like '%{{ input }}%' as needs_{{ input }},
        {%- endfor %}
        -- Whose sentences the logs may weigh for this metric.
        case
            when metric_name = 'reference_recall' then 'reference'
            when aggregate <> 'weighted' or family not in ('similarity', 'entailment') then null
            when comparison like 'query_to_%' then 'query'
            when comparison like 'answer_to_%' then 'answer'
        end as weighed_role
    from {{ ref('hcat', 'int_metric_catalog') }}
    -- the verdict is made of the others, later
    where {{ is_metric_of_this_build('requires') }} and coalesce(family, '') <> 'verdict'
),

-- Weights that belong to other sentences than those of the text: a score by them would be made up.
mismatched_weights as (
    select * from {{ ref('hcat', 'int_sentence_weights') }}
    where mismatch is not null
),

cut_off as (
    select count(*) > 0 as has_cut_off
    from {{ ref('hcat', 'int_threshold_decisions') }}
    where decision_name = 'context_sentence_relevance' and threshold is not null
),

classifier as (
    select location <> 'none' as has_classifier from {{ ref('hcat', 'int_classifier') }}
),

text_classifiers as (
    select
        bool_or(purpose = 'toxicity' and location <> 'none') as has_toxicity,
        bool_or(purpose = 'sentiment' and location <> 'none') as has_sentiment
    from {{ ref_if_on('safety', 'int_text_classifiers', 'purpose, location') }}
),

crossed as (
    select
        {{ evaluation_id('interactions.interaction_id', 'metrics.metric_name') }} as evaluation_id,
        interactions.interaction_id,
        metrics.metric_name,
        metrics.refusal_rule,
        metrics.score_when_refused,
        interactions.is_refusal,
        interactions.expected_behaviour,
        concat_ws(
            ', ',
            {%- for condition, name in missing %}
            case when {{ condition }} then '{{ name }}' end,
            {%- endfor %}
            mismatched_weights.mismatch
        ) as missing_inputs,
        -- A text without a known language counts as one in a language that is read.
        case
            when
                metrics.needs_classifier
                and interactions.answer_language
                not in ('{{ var("hcat_classifier_languages") | join("', '") }}')
                then 'the entailment classifier does not read ' || interactions.answer_language
            when
                metrics.needs_encoder
                and interactions.answer_language
                not in ('{{ var("hcat_encoder_languages") | join("', '") }}')
                then 'the encoder does not read ' || interactions.answer_language
        end as unsupported_language,
        metrics.applies_to_behaviour <> 'any' and metrics.applies_to_behaviour <> interactions.expected_behaviour
        or (
            metrics.applies_to_answer_types is not null
            and interactions.answer_type is not null
            and not contains('|' || metrics.applies_to_answer_types || '|', '|' || interactions.answer_type || '|')
        ) as is_outside_scope
    from interactions
    cross join metrics
    cross join cut_off
    cross join classifier
    cross join text_classifiers
    left join mismatched_weights
        on
            interactions.interaction_id = mismatched_weights.interaction_id
            and metrics.weighed_role = mismatched_weights.role
),

final as (
    select
        evaluation_id,
        interaction_id,
        metric_name,
        case
            when is_outside_scope then 'not_applicable'
            when missing_inputs <> '' then 'missing_input'
            when unsupported_language is not null then 'unsupported_language'
            when is_refusal and refusal_rule = 'as_refused' then 'refused'
        end as expected_status,
        case
            when is_outside_scope then 'not for this answer type or expected behaviour'
            when missing_inputs <> '' then 'missing: ' || missing_inputs
            when unsupported_language is not null then unsupported_language
            when is_refusal and refusal_rule = 'as_refused' then 'the answer declines'
        end as expected_detail,
        -- A refusal where an answer was expected gets the score of the catalogue. A correct refusal has no such score.
        case when expected_behaviour = 'answer' then score_when_refused end as score_when_refused
    from crossed
)

select * from final
