-- The topics of the last fit together contain all chunks, and no chunk has a retired topic. The stability of the fit is
-- known for both variations.
{{ config(enabled=var('hcat_test_set'), tags=['test_set']) }}

with chunks as (
    select count(*) as count_chunks from {{ ref('hcat', 'stg_chunks') }}
),

topics as (
    select
        coalesce(sum(count_chunks), 0) as count_chunks,
        coalesce(sum(case when topic_status = 'retired' then count_chunks end), 0) as count_retired
    from {{ ref('hcat', 'dim_topics') }}
),

stability as (
    select count(*) as count_variations
    from {{ ref('hcat', 'fct_topic_stability') }}
    where is_current
)

select
    chunks.count_chunks as count_staged,
    topics.count_chunks as count_in_topics,
    topics.count_retired,
    stability.count_variations
from chunks
cross join topics
cross join stability
where
    chunks.count_chunks <> topics.count_chunks
    or topics.count_retired > 0
    -- seed and sample
    or (chunks.count_chunks > 0 and stability.count_variations <> 1 + 1)
