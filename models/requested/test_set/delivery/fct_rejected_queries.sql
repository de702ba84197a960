with queries_checked as (
    select * from {{ ref('hcat', 'int_queries_checked') }}
    where check_status = 'rejected'
),

chunk_topics as (
    select chunk_id, topic_id from {{ ref('hcat', 'int_chunk_topics') }}
),

chunk_strata as (
    select chunk_id, stratum_id from {{ ref('hcat', 'int_chunk_strata') }}
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_test_texts_masked') }}
    where masked_text is not null
)

select {{ columns_of_contract({
    'query_id': 'candidates.query_id',
    'generation_key': 'candidates.generation_key',
    'chunk_id': 'candidates.chunk_id',
    'topic_id': 'chunk_topics.topic_id',
    'stratum_id': 'chunk_strata.stratum_id',
    'query_text': 'coalesce(masked_queries.masked_text, candidates.query_text)',
    'reference_answer': 'coalesce(masked_references.masked_text, candidates.reference_answer)',
    'query_type': 'candidates.query_type',
    'expected_behaviour': 'candidates.expected_behaviour',
    'generator': 'candidates.generator',
    'generator_revision': 'candidates.generator_revision',
    'pattern': 'candidates.pattern',
}, of='queries_checked') }}
from queries_checked
inner join {{ ref('hcat', 'int_generated_candidates') }} as candidates on queries_checked.query_id = candidates.query_id
left join chunk_topics
    on coalesce(candidates.chunk_id, {{ array_at('candidates.source_chunk_ids', 1) }}) = chunk_topics.chunk_id
left join chunk_strata on candidates.chunk_id = chunk_strata.chunk_id
left join masked as masked_queries on md5(candidates.query_text) = masked_queries.text_id
left join masked as masked_references on md5(candidates.reference_answer) = masked_references.text_id
