-- One row per interaction with the inputs that it holds. They decide which metrics can be scored.
{{ config(materialized='table') }}

with interactions as (
    select * from {{ ref('int_interactions_joined') }}
),

passages as (
    select * from {{ ref('int_interaction_passages') }}
),

answers_classified as (
    select * from {{ ref('int_answers_classified_by_refusal') }}
),

answer_passages as (
    select interaction_id, passage_id
    from passages
    where role = 'answer'
),

answer_languages as (
    select * from {{ ref('int_answer_languages') }}
),

-- What the logs say counts if it is a code (en, en-GB). Else the answer tells, if it is long enough.
languages as (
    select
        interactions.interaction_id,
        {{ array_at(all_matches('lower(interactions.language)', '^([a-z][a-z])(?:[-_]|$)'), 1) }} as logged_language,
        case
            when
                answer_languages.language_probability >= {{ var('hcat_language_probability') }}
                and answer_languages.count_letters >= {{ var('hcat_language_letters') }}
                then answer_languages.language
        end as detected_language
    from interactions
    left join answer_passages on interactions.interaction_id = answer_passages.interaction_id
    left join answer_languages on answer_passages.passage_id = answer_languages.passage_id
),

retrievals_graded as (
    select
        interaction_id,
        count(*) as count_retrieved,
        bool_or(grade > 0) as is_source_retrieved
    from {{ ref('int_retrievals_graded') }}
    group by interaction_id
),

context_counts as (
    select interaction_id, count(*) as count_contexts
    from passages
    where role = 'context'
    group by interaction_id
),

final as (
    select
        interactions.*,
        answers_classified.refusal_rule,
        coalesce(languages.logged_language, languages.detected_language) as answer_language,
        case
            when languages.logged_language is not null then 'logged'
            when languages.detected_language is not null then 'detected'
            else 'undecided'
        end as language_source,
        coalesce(context_counts.count_contexts, 0) as count_contexts,
        length(interactions.answer) as count_answer_characters,
        interactions.query_text is not null as has_query,
        coalesce(context_counts.count_contexts, 0) > 0 as has_context,
        interactions.reference_answer is not null as has_reference,
        retrievals_graded.interaction_id is not null as has_graded_retrieval,
        retrievals_graded.is_source_retrieved,
        coalesce(answers_classified.is_refusal, false) as is_refusal
    from interactions
    left join answer_passages on interactions.interaction_id = answer_passages.interaction_id
    left join answers_classified on answer_passages.passage_id = answers_classified.passage_id
    inner join languages on interactions.interaction_id = languages.interaction_id
    left join context_counts on interactions.interaction_id = context_counts.interaction_id
    left join retrievals_graded on interactions.interaction_id = retrievals_graded.interaction_id
)

select * from final
