-- Every retrieved passage has its row, and each passage that a metric read has its text there. One aggregation, because
-- it spills: joins of three tables that grow with the logs do not fit beside another node.
with places as (
    select
        interaction_id,
        rank,
        'retrieved' as found_in
    from {{ ref('hcat', 'stg_retrievals') }}
    union all
    select
        interaction_id,
        rank,
        case when context_text is null then 'contexts' else 'contexts with text' end as found_in
    from {{ ref('hcat', 'fct_retrieved_contexts') }}
    union all
    select
        interaction_id,
        position as rank,
        'passages with text' as found_in
    from {{ ref('hcat', 'int_interaction_passages') }}
    where role = 'context' and passage_text is not null
),

counted as (
    select
        interaction_id,
        rank,
        sum(case when found_in = 'retrieved' then 1 else 0 end) as count_retrieved,
        sum(case when found_in like 'contexts%' then 1 else 0 end) as count_contexts,
        sum(case when found_in = 'contexts with text' then 1 else 0 end) as count_contexts_with_text,
        sum(case when found_in = 'passages with text' then 1 else 0 end) as count_passages_with_text
    from places
    group by interaction_id, rank
)

select *
from counted
where
    (count_retrieved > 0 and count_contexts = 0)
    or (count_retrieved = 0 and count_contexts > 0)
    or (count_passages_with_text > 0 and count_contexts_with_text < count_contexts)
    -- a place without a name is no place
    or (count_retrieved + count_contexts > 0 and (interaction_id is null or rank is null))
