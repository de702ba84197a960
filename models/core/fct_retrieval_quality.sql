with interactions as (
    select interaction_id, query_id, cluster_id, system, topic, retrieval_hit from {{ ref('hcat', 'fct_interactions') }}
),

verdicts as (
    select interaction_id, verdict from {{ ref('hcat', 'fct_verdicts') }}
),

-- Nothing was retrieved, and so no verdict rests on what was.
empty as (
    select interaction_id as empty_interaction_id from {{ ref('hcat', 'int_retrievals_graded') }}
    where position is null
),

explained as (
    select
        quality.metric_name, quality.k, quality.score, interactions.*,
        case
            when verdicts.verdict = 'not_judged' and empty.empty_interaction_id is not null then 'retrieval'
            when verdicts.verdict <> 'failing' then 'no_failure'
            when interactions.retrieval_hit = 'source retrieved' then 'generation'
            else 'retrieval'
        end as failure_cause
    from {{ ref('hcat', 'int_retrieval_quality') }} as quality
    inner join interactions on quality.interaction_id = interactions.interaction_id
    inner join verdicts on quality.interaction_id = verdicts.interaction_id
    left join empty on quality.interaction_id = empty.empty_interaction_id
)

select {{ columns_of_contract({
    'retrieval_quality_id': "md5(concat_ws('|', interaction_id, metric_name, coalesce(k, 0)))",
    'k': 'k::integer',
    'score': 'score::double',
}) }}
from explained
