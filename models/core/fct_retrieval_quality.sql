with quality as (
    select * from {{ ref('hcat', 'int_retrieval_quality') }}
),

interactions as (
    select interaction_id, query_id, cluster_id, system, topic, retrieval_hit, expected_behaviour, is_answered
    from {{ ref('hcat', 'fct_interactions') }}
),

-- An answer fails when it fails against its reference, by its groundedness, or by whether it was given at all. One such
-- failure is enough. Similarity is no test of truth, so it counts only where the fused groundedness has no verdict.
failures as (
    select
        interaction_id,
        coalesce(
            bool_or(is_failing) filter (
                where metric_name in ('semantic_similarity', 'refusal_as_expected', 'answered')
            ),
            false
        )
        or coalesce(
            bool_or(is_failing) filter (where metric_name = 'groundedness'),
            bool_or(is_failing) filter (where metric_name = 'groundedness_similarity__mean'),
            false
        ) as is_answer_failing
    from {{ ref('hcat', 'fct_evaluations') }}
    where
        metric_name in (
            'semantic_similarity', 'refusal_as_expected', 'answered', 'groundedness', 'groundedness_similarity__mean'
        )
    group by interaction_id
),

final as (
    select
        -- ids
        md5(concat_ws('|', quality.interaction_id, quality.metric_name, coalesce(quality.k, 0)))
            as retrieval_quality_id,
        quality.interaction_id,
        interactions.query_id,
        interactions.cluster_id,

        -- strings
        interactions.system,
        interactions.topic,
        quality.metric_name,
        case
            when not failures.is_answer_failing then 'no_failure'
            when interactions.retrieval_hit = 'source retrieved' then 'generation'
            else 'retrieval'
        end as failure_cause,

        -- numerics
        quality.k::integer as k,
        quality.score::double as score
    from quality
    inner join interactions on quality.interaction_id = interactions.interaction_id
    inner join failures on quality.interaction_id = failures.interaction_id
)

select * from final
