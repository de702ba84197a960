-- One row per interaction with the inputs that it holds. They decide which metrics can be scored.
{{ config(materialized='table') }}

with interactions as (
    select * from {{ ref('hcat', 'int_interactions_joined') }}
),

passages as (
    select * from {{ ref('hcat', 'int_interaction_passages') }}
),

answers_classified as (
    select * from {{ ref('hcat', 'int_answers_classified_by_refusal') }}
),

answer_passages as (
    select interaction_id, passage_id
    from passages
    where role = 'answer'
),

-- an answer tells its language if it is long enough
languages_detected as (
    select passage_id, language
    from {{ ref('hcat', 'int_answer_languages') }}
    where
        language_probability >= {{ var('hcat_language_probability') }}
        and count_letters >= {{ var('hcat_language_letters') }}
),

retrievals_graded as (
    select
        interaction_id,
        bool_or(grade > 0) as is_source_retrieved
    from {{ ref('hcat', 'int_retrievals_graded') }}
    group by interaction_id
),

context_counts as (
    select interaction_id, count(*) as count_contexts
    from passages
    where role = 'context'
    group by interaction_id
),

passages_unread as (
    select * from {{ ref('hcat', 'stg_retrievals__unread') }}
),

final as (
    select
        interactions.*,
        answers_classified.refusal_rule,
        coalesce(interactions.logged_language, languages_detected.language) as answer_language,
        case
            when interactions.logged_language is not null then 'logged'
            when languages_detected.language is not null then 'detected'
            else 'undecided'
        end as language_source,
        coalesce(context_counts.count_contexts, 0) as count_contexts,
        length(interactions.answer) as count_answer_characters,
        interactions.query_text is not null as has_query,
        coalesce(context_counts.count_contexts, 0) > 0 as has_context,
        interactions.reference_answer is not null as has_reference,
        retrievals_graded.interaction_id is not null as has_graded_retrieval,
        retrievals_graded.is_source_retrieved,
        coalesce(passages_unread.has_rejected_passage, false) as has_rejected_passage,
        coalesce(passages_unread.has_unknown_text, false) as has_unknown_text,
        coalesce(answers_classified.is_refusal, false) as is_refusal
    from interactions
    left join answer_passages on interactions.interaction_id = answer_passages.interaction_id
    left join answers_classified on answer_passages.passage_id = answers_classified.passage_id
    left join languages_detected on answer_passages.passage_id = languages_detected.passage_id
    left join context_counts on interactions.interaction_id = context_counts.interaction_id
    left join retrievals_graded on interactions.interaction_id = retrievals_graded.interaction_id
    left join passages_unread on interactions.interaction_id = passages_unread.interaction_id
)

select * from final
