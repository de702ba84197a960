with chunk_topics as (
    select * from {{ ref('hcat', 'int_chunk_topics') }}
),

counted as (
    select
        topic_id,
        count(*) as count_chunks,
        count(distinct document_id) as count_documents,
        {{ exact_mean('similarity_to_centre') }} as mean_similarity,
        count(case when not is_fitted then 1 end) as count_added
    from chunk_topics
    group by topic_id
),

whole as (
    select count(*) as count_chunks from chunk_topics
),

-- an id has a row per fit that found it: the last one says what it is
numbered as (
    select
        *,
        min(fit_number) over (partition by topic_id) as first_fit_number,
        max(fit_number) over () as current_fit_number,
        row_number() over (partition by topic_id order by fit_number desc) as recency
    from {{ ref('hcat', 'int_topics_fitted') }}
)

select {{ columns_of_contract({
    'topic_words': array_join('numbered.words', ', '),
    'topic_naming': "case when numbered.topic_id = 'noise' then 'none' else coalesce(numbered.naming, 'words') end",
    'topic_status': "case when numbered.fit_number = numbered.current_fit_number then 'current' else 'retired' end",
    'count_chunks': 'coalesce(counted.count_chunks, 0)::bigint',
    'count_documents': 'coalesce(counted.count_documents, 0)::bigint',
    'count_added': 'coalesce(counted.count_added, 0)::bigint',
    'share_chunks': 'coalesce(counted.count_chunks / nullif(whole.count_chunks, 0)::double, 0)',
    'mean_similarity': 'counted.mean_similarity',
    'last_fit_number': 'numbered.fit_number',
    'is_noise': "numbered.topic_id = 'noise'",
}, of='numbered') }}
from numbered
cross join whole
left join counted on numbered.topic_id = counted.topic_id
where numbered.recency = 1
