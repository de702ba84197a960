with families as (
    select query_id, root_query_id, query_group from {{ ref('hcat', 'int_queries') }}
),

relevance as (
    select query_id, count(*) as count_relevant_chunks
    from {{ ref('hcat', 'int_query_relevance') }}
    where grade > 0
    group by query_id
),

masked as (
    select text_id, masked_text from {{ ref('hcat', 'int_texts_masked') }}
    where masked_text is not null
),

records as (
    select text_id, masked_text from {{ ref('hcat', 'int_records_masked') }}
    where masked_text is not null
)

select {{ columns_of_contract({
    'root_query_id': 'families.root_query_id',
    'query_group': 'families.query_group',
    'query_text': 'coalesce(masked_queries.masked_text, queries.query_text)',
    'reference_answer': 'coalesce(masked_references.masked_text, queries.reference_answer)',
    'tags': 'coalesce(records.masked_text, queries.tags)',
    'count_relevant_chunks': 'coalesce(relevance.count_relevant_chunks, 0)::integer',
}, of='queries') }}
from {{ ref('hcat', 'stg_queries') }} as queries
inner join families on queries.query_id = families.query_id
left join relevance on queries.query_id = relevance.query_id
left join masked as masked_queries on md5(queries.query_text) = masked_queries.text_id
left join masked as masked_references on md5(queries.reference_answer) = masked_references.text_id
left join records on md5(queries.tags) = records.text_id
