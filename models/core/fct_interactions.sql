with interactions as (
    select * from {{ ref('hcat', 'int_interaction_attributes') }}
),

topics as (
    select * from {{ ref('hcat', 'int_interaction_topics') }}
),

masked as (
    select * from {{ ref('hcat', 'int_interactions_masked') }}
),

relevance as (
    select query_id, chunk_id, grade from {{ ref('hcat', 'int_query_relevance') }}
    where grade > 0
),

retrieved as (
    select distinct interaction_id, chunk_id from {{ ref('hcat', 'fct_retrieved_contexts') }}
),

missed as (
    select
        interactions.interaction_id,
        {{ ordered_array('relevance.chunk_id', '-relevance.grade, relevance.chunk_id') }} as missed_chunk_ids,
        {{ ordered_array('relevance.grade', '-relevance.grade, relevance.chunk_id') }} as missed_chunk_grades
    from interactions
    inner join relevance on interactions.query_id = relevance.query_id
    left join retrieved
        on interactions.interaction_id = retrieved.interaction_id and relevance.chunk_id = retrieved.chunk_id
    where retrieved.interaction_id is null
    group by interactions.interaction_id
),

final as (
    select
        -- ids
        interactions.interaction_id,
        interactions.answer_run_id,
        interactions.query_id,
        interactions.cluster_id,
        interactions.second_cluster_id,
        interactions.conversation_id,
        interactions.conversation_key,

        -- strings
        interactions.application,
        interactions.application_version,
        interactions.system,
        interactions.population,
        interactions.version_role,
        interactions.language,
        interactions.answer_language,
        interactions.language_source,
        masked.customer_group,
        topics.topic,
        topics.topic_source,
        interactions.query_type,
        interactions.difficulty,
        interactions.answer_type,
        interactions.variant_type,
        interactions.expected_behaviour,
        case
            when interactions.count_answer_characters is null or not interactions.is_answered then 'empty'
            when interactions.count_answer_characters < 200 then 'under 200 characters'
            when interactions.count_answer_characters < 600 then '200 to 599 characters'
            else '600 characters or more'
        end as answer_length,
        case
            when interactions.is_source_retrieved then 'source retrieved'
            when interactions.has_graded_retrieval then 'source not retrieved'
        end as retrieval_hit,
        case
            when interactions.asked_at is not null then date_trunc('week', interactions.asked_at)::date::string
        end as asked_week,
        case
            when interactions.turn_index < 2 then 'turn 1'
            when interactions.turn_index < 4 then 'turns 2 to 3'
            when interactions.turn_index >= 4 then 'turn 4 or later'
        end as turn,
        case
            when interactions.count_turns < 2 then '1 turn'
            when interactions.count_turns < 4 then '2 to 3 turns'
            when interactions.count_turns >= 4 then '4 turns or more'
        end as conversation_length,
        interactions.refusal_rule,
        masked.query_text,
        masked.answer,
        masked.answer_masks,
        masked.reference_answer,
        masked.tags,
        missed.missed_chunk_ids,

        -- numerics
        missed.missed_chunk_grades,
        coalesce(interactions.sample_index, 0) as sample_index,
        interactions.turn_index,
        interactions.count_turns,
        interactions.count_contexts::integer as count_contexts,
        coalesce(interactions.count_answer_characters, 0)::integer as count_answer_characters,
        interactions.sampling_weight,

        -- booleans
        interactions.is_answered,
        interactions.is_refusal,
        interactions.has_query,
        interactions.has_context,
        interactions.has_reference,
        interactions.has_graded_retrieval,
        interactions.is_in_release_population,
        interactions.is_in_monitored_population,

        -- timestamps
        interactions.asked_at
    from interactions
    inner join masked on interactions.interaction_id = masked.interaction_id
    left join topics on interactions.interaction_id = topics.interaction_id
    left join missed on interactions.interaction_id = missed.interaction_id
)

select * from final
