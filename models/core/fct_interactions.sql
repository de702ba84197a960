with interactions as (
    select * from {{ ref('hcat', 'int_interaction_attributes') }}
),

queries_passed as (
    select interaction_id, passage_id from {{ ref('hcat', 'int_interaction_passages') }}
    where role = 'query'
),

-- the logged topic, else that of the source chunk, else the k-means cluster of the query
topics as (
    select
        logged.interaction_id,
        coalesce(logged.topic, clusters.topic, 'no_topic') as topic,
        coalesce(logged.topic_source, case when clusters.topic is not null then 'query_cluster' end, 'none')
            as topic_source
    from {{ ref('hcat', 'int_topics_logged') }} as logged
    left join queries_passed as passages on logged.interaction_id = passages.interaction_id
    left join {{ ref('hcat', 'int_queries_clustered') }} as clusters on passages.passage_id = clusters.passage_id
),

recognised as (
    select text_id, masked_text, spans from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
),

masked as (
    select
        interactions.interaction_id,
        coalesce(queries.masked_text, interactions.query_text) as query_text,
        coalesce(answers.masked_text, interactions.answer) as answer,
        -- start and end as logged, and the length of the mask; a span without a mask is shown
        {{ array_join(array_map(
            'answers.spans', "each['start'] || ' ' || each['end'] || ' ' || length(each['masked'])"
        ), ',') }} as answer_masks,
        coalesce(reference_answers.masked_text, interactions.reference_answer) as reference_answer,
        coalesce(customer_groups.masked_text, interactions.customer_group) as customer_group,
        coalesce(records.masked_text, interactions.tags) as tags
    from interactions
    left join recognised as queries on md5(interactions.query_text) = queries.text_id
    left join recognised as answers on md5(interactions.answer) = answers.text_id
    left join recognised as reference_answers on md5(interactions.reference_answer) = reference_answers.text_id
    left join recognised as customer_groups on md5(interactions.customer_group) = customer_groups.text_id
    left join {{ ref('hcat', 'int_records_masked') }} as records on md5(interactions.tags) = records.text_id
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

classed as (
    select
        interactions.*,
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
        date_trunc('week', interactions.asked_at)::date as asked_week,
        case
            when interactions.turn_index < 2 then 'turn 1'
            when interactions.turn_index < 4 then 'turns 2 to 3'
            when interactions.turn_index >= 4 then 'turn 4 or later'
        end as turn,
        case
            when interactions.count_turns < 2 then '1 turn'
            when interactions.count_turns < 4 then '2 to 3 turns'
            when interactions.count_turns >= 4 then '4 turns or more'
        end as conversation_length
    from interactions
)

select {{ columns_of_contract({
    'topic': 'topics.topic',
    'topic_source': 'topics.topic_source',
    'customer_group': 'masked.customer_group',
    'query_text': 'masked.query_text',
    'answer': 'masked.answer',
    'answer_masks': 'masked.answer_masks',
    'reference_answer': 'masked.reference_answer',
    'tags': 'masked.tags',
    'missed_chunk_ids': 'missed.missed_chunk_ids',
    'missed_chunk_grades': 'missed.missed_chunk_grades',
    'sample_index': 'coalesce(classed.sample_index, 0)',
    'count_contexts': 'classed.count_contexts::integer',
    'count_answer_characters': 'coalesce(classed.count_answer_characters, 0)::integer',
}, of='classed') }}
from classed
inner join masked on classed.interaction_id = masked.interaction_id
left join topics on classed.interaction_id = topics.interaction_id
left join missed on classed.interaction_id = missed.interaction_id
