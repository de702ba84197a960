-- One row per interaction with the inputs that it holds. They decide which metrics can be scored.
-- The language of an answer counts from this probability and this many letters on (hcat.language.identification).
{%- set probability = 0.8 %}
{%- set letters = 20 %}
{{ config(materialized='table') }}

with interactions as (
    select * from {{ ref('hcat', 'int_interactions') }}
),

passages as (
    select * from {{ ref('hcat', 'int_interaction_passages') }}
),

answers_described as (
    select
        passage_id,
        refusal_rule,
        is_refusal,
        -- an answer tells its language if it is long enough
        case
            when language_probability >= {{ probability }} and count_letters >= {{ letters }} then language
        end as language
    from {{ ref('hcat', 'int_answers_described') }}
),

answer_passages as (
    select interaction_id, passage_id
    from passages
    where role = 'answer'
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
        answers_described.refusal_rule,
        coalesce(interactions.logged_language, answers_described.language) as answer_language,
        case
            when interactions.logged_language is not null then 'logged'
            when answers_described.language is not null then 'detected'
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
        coalesce(answers_described.is_refusal, false) as is_refusal
    from interactions
    left join answer_passages on interactions.interaction_id = answer_passages.interaction_id
    left join answers_described on answer_passages.passage_id = answers_described.passage_id
    left join context_counts on interactions.interaction_id = context_counts.interaction_id
    left join retrievals_graded on interactions.interaction_id = retrievals_graded.interaction_id
    left join passages_unread on interactions.interaction_id = passages_unread.interaction_id
)

select * from final
