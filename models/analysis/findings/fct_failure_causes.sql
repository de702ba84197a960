with evaluations as (
    select *
    from {{ ref('hcat', 'int_primary_evaluations') }}
    where is_failing_of_all
),

queries as (
    select query_id, source_chunk_ids from {{ ref('hcat', 'dim_queries') }}
),

-- only interactions whose logs name chunks, of queries with a relevant chunk
retrieved as (
    select
        interaction_id,
        array_agg(distinct chunk_id) as chunk_ids,
        bool_or(grade > 0) as has_relevant_chunk
    from {{ ref('hcat', 'int_retrievals_graded') }}
    group by interaction_id
),

joined as (
    select
        evaluations.*, interactions.query_id, interactions.cluster_id, interactions.application,
        interactions.application_version, interactions.system, interactions.topic,
        interactions.has_graded_retrieval, interactions.is_answered, interactions.is_refusal,
        interactions.expected_behaviour = 'refuse' as is_refusal_due,
        metrics.family = 'retrieval' or metrics.comparison in ('query_to_context', 'context_to_query')
            as is_metric_of_retrieval,
        retrieved.has_relevant_chunk,
        nullif({{ array_length('array_distinct(queries.source_chunk_ids)') }}, 0) as count_source_chunks,
        case
            when interactions.has_graded_retrieval
                then {{ array_length(
                    'array_intersect(array_distinct(queries.source_chunk_ids), retrieved.chunk_ids)'
                ) }}
        end as count_source_chunks_retrieved
    from evaluations
    inner join {{ ref('hcat', 'fct_interactions') }} as interactions
        on evaluations.interaction_id = interactions.interaction_id
    inner join {{ ref('hcat', 'int_metric_catalog') }} as metrics on evaluations.metric_name = metrics.metric_name
    left join queries on interactions.query_id = queries.query_id
    left join retrieved on evaluations.interaction_id = retrieved.interaction_id
),

placed as (
    select
        *,
        -- the source chunks that the query declares; graded chunks only if it declares none
        case
            when not has_graded_retrieval then null
            when count_source_chunks is null then case when has_relevant_chunk then 'all' else 'none' end
            when count_source_chunks_retrieved = count_source_chunks then 'all'
            when count_source_chunks_retrieved > 0 then 'some'
            else 'none'
        end as sources_retrieved
    from joined
),

reasoned as (
    select
        *,
        case
            when is_metric_of_retrieval then 'metric_of_retrieval'
            when is_refusal_due and is_answered and not is_refusal then 'answered_instead_of_refusing'
            when sources_retrieved is null and count_source_chunks is null then 'no_source_known'
            when sources_retrieved is null then 'no_retrieval_known'
            when sources_retrieved = 'some' then 'sources_partly_retrieved'
            when sources_retrieved = 'none' and is_refusal then 'refused_without_source'
            when sources_retrieved = 'none' then 'source_not_retrieved'
            when not is_answered then 'silent_although_source_retrieved'
            when is_refusal then 'refused_although_source_retrieved'
            else 'source_retrieved'
        end as reason
    from placed
),

explained as (
    select
        *,
        case
            when reason in ('metric_of_retrieval', 'source_not_retrieved', 'refused_without_source') then 'retrieval'
            when reason in ('no_source_known', 'no_retrieval_known', 'sources_partly_retrieved') then 'undetermined'
            else 'generation'
        end as fault
    from reasoned
)

select {{ columns_of_contract({
    'failure_cause_id': "md5(concat_ws('|', interaction_id, metric_name))",
}) }}
from explained
