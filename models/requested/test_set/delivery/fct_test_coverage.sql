-- Every segment has the row `accepted`, even with a zero, so that gaps are visible.
with requests as (
    select generation_key, chunk_id, query_type, generator from {{ ref('hcat', 'int_generation_requests') }}
),

queries_generated as (
    select generation_key, generation_status from {{ ref('hcat', 'int_queries_generated') }}
    where query_id is null
),

queries_checked as (
    select query_id, coalesce(reason, 'accepted') as outcome from {{ ref('hcat', 'int_queries_checked') }}
),

chunk_topics as (
    select chunk_id, topic_id from {{ ref('hcat', 'int_chunk_topics') }}
),

chunk_strata as (
    select chunk_id, stratum_id from {{ ref('hcat', 'int_chunk_strata') }}
),

query_types as (
    select query_type from {{ seed('test_query_types') }}
    where queries_per_chunk > 0
),

outcomes as (
    select
        queries_checked.outcome,
        'query' as outcome_of,
        candidates.query_type,
        candidates.generator,
        coalesce(candidates.chunk_id, {{ array_at('candidates.source_chunk_ids', 1) }}) as chunk_id
    from queries_checked
    inner join {{ ref('hcat', 'int_generated_candidates') }} as candidates
        on queries_checked.query_id = candidates.query_id
    union all
    select
        queries_generated.generation_status as outcome,
        'request' as outcome_of,
        requests.query_type,
        requests.generator,
        requests.chunk_id
    from queries_generated
    inner join requests on queries_generated.generation_key = requests.generation_key
),

located as (
    select
        outcomes.*,
        coalesce(chunk_topics.topic_id, 'no_chunk') as topic_id,
        coalesce(chunk_strata.stratum_id, 'no_chunk') as stratum_id
    from outcomes
    left join chunk_topics on outcomes.chunk_id = chunk_topics.chunk_id
    left join chunk_strata on outcomes.chunk_id = chunk_strata.chunk_id
),

segmented as (
    select 'all' as dimension, 'all' as segment, outcome, outcome_of from located
    union all
    select 'query_type' as dimension, query_type as segment, outcome, outcome_of from located
    union all
    select 'topic' as dimension, topic_id as segment, outcome, outcome_of from located
    union all
    select 'stratum' as dimension, stratum_id as segment, outcome, outcome_of from located
    union all
    select 'generator' as dimension, generator as segment, outcome, outcome_of from located
),

counted as (
    select dimension, segment, outcome, outcome_of, count(*) as count_outcomes
    from segmented
    group by dimension, segment, outcome, outcome_of
),

-- all segments of the documents, whether or not a query was made from them
segments as (
    select 'all' as dimension, 'all' as segment
    union all
    select 'query_type' as dimension, query_type as segment from query_types
    union all
    select distinct 'topic' as dimension, topic_id as segment from chunk_topics
    union all
    select distinct 'stratum' as dimension, stratum_id as segment from chunk_strata
    union all
    select distinct 'generator' as dimension, generator as segment from requests
),

completed as (
    select dimension, segment, outcome, outcome_of, count_outcomes from counted
    union all
    select segments.dimension, segments.segment, 'accepted' as outcome, 'query' as outcome_of, 0 as count_outcomes
    from segments
    left join counted
        on
            segments.dimension = counted.dimension
            and segments.segment = counted.segment
            and counted.outcome = 'accepted'
    where counted.segment is null
),

summed as (
    select
        *,
        sum(case when outcome_of = 'query' then count_outcomes else 0 end) over (partition by dimension, segment)
            as count_queries
    from completed
)

select {{ columns_of_contract({
    'coverage_id': "md5(concat_ws('|', dimension, segment, outcome))",
    'count_outcomes': 'count_outcomes::bigint',
    'count_queries': 'count_queries::bigint',
    'share_of_queries':
        "case when outcome_of = 'query' and count_queries > 0 then count_outcomes::double / count_queries end",
}) }}
from summed
