-- All metrics start from the texts of this model.
-- This is a table, because a build reads it some fifty times, and because DuckDB then knows how many rows it has.
{{ config(materialized='table') }}

with queries as (
    select * from {{ ref('hcat', 'stg_queries') }}
),

families as (
    select query_id, root_query_id, is_in_family from {{ ref('hcat', 'int_queries') }}
),

chunks as (
    select chunk_id, document_id from {{ ref('hcat', 'stg_chunks') }}
),

chunks_of_queries as (
    select query_id, {{ explode('source_chunk_ids') }} as chunk_id
    from queries
),

-- the first document in the order of ids, where the source of a query lies in several
documents_of_queries as (
    select chunks_of_queries.query_id, min(chunks.document_id) as document_id
    from chunks_of_queries
    inner join chunks on chunks_of_queries.chunk_id = chunks.chunk_id
    group by chunks_of_queries.query_id
),

joined as (
    select
        interactions.interaction_id,
        -- In every later table a run_id is a build.
        interactions.run_id as answer_run_id,
        interactions.query_id,
        interactions.application,
        interactions.application_version,
        {{ named("nullif(concat_ws(' ', interactions.application, interactions.application_version), '')") }}
            as system,
        interactions.language,
        -- a code (en, en-GB), without its region; a name of a language is no code
        {{ array_at(all_matches('lower(interactions.language)', '^([a-z][a-z])(?:[-_]|$)'), 1) }} as logged_language,
        interactions.customer_group,
        interactions.population as declared_population,
        interactions.tags,
        interactions.answer,
        interactions.sample_index,
        interactions.count_retrieved,
        interactions.asked_at,
        turns.conversation_id,
        turns.conversation_key,
        turns.turn_index,
        turns.count_turns,
        queries.reference_answer,
        queries.query_type,
        queries.difficulty,
        queries.answer_type,
        queries.variant_type,
        queries.source_chunk_ids,
        coalesce(interactions.query_sentence_weights, queries.query_sentence_weights) as query_sentence_weights,
        interactions.answer_sentence_weights,
        queries.reference_sentence_weights,
        coalesce(queries.query_text, interactions.query_text) as query_text,
        coalesce(queries.expected_behaviour, 'answer') as expected_behaviour,
        queries.cluster_id as declared_cluster_id,
        -- Queries for the same fact and their variants are siblings.
        case when families.is_in_family then roots.query_group else queries.query_group end
            as declared_query_group,
        case when families.is_in_family then families.root_query_id end as family_query_id,
        documents.document_id as source_document_id,
        coalesce(queries.sampling_weight, 1) as sampling_weight
    from {{ ref('hcat', 'stg_interactions') }} as interactions
    left join {{ ref('hcat', 'int_conversation_turns') }} as turns on interactions.interaction_id = turns.interaction_id
    left join queries on interactions.query_id = queries.query_id
    left join families on interactions.query_id = families.query_id
    left join queries as roots on families.root_query_id = roots.query_id
    left join documents_of_queries as documents
        on coalesce(families.root_query_id, interactions.query_id) = documents.query_id
),

described as (
    select
        *,
        coalesce(variant_type, 'original') <> 'original' as is_variant,
        -- what somebody declared about a query says that it was prepared for a test
        reference_answer is not null
        or source_chunk_ids is not null
        or query_type is not null
        or declared_cluster_id is not null
        or family_query_id is not null
        or expected_behaviour <> 'answer'
        or coalesce(variant_type, 'original') <> 'original' as is_prepared
    from joined
),

final as (
    select
        *,
        -- Interactions of one cluster are siblings. Statistics count clusters, not rows. Queries of a test set declare
        -- the document of their source as their cluster. Otherwise the turns of a conversation are siblings, and then
        -- the queries of a family. A session of one turn is no conversation.
        coalesce(
            declared_cluster_id,
            case when count_turns > 1 then 'conversation_' || conversation_id end,
            declared_query_group,
            family_query_id,
            'query_' || {{ hash_of_query('query_text') }},
            query_id,
            interaction_id
        ) as cluster_id,
        case
            when declared_population is not null then declared_population
            when is_variant then 'variant'
            -- a few references among many answers are no test set
            when
                is_prepared
                and count(case when is_prepared and not is_variant then 1 end) over (partition by system)
                >= {{ var('hcat_minimum_segment_clusters') }}
                then 'test_set'
            else 'production'
        end as population,
        not {{ is_blank('answer') }} as is_answered
    from described
)

select * from final
