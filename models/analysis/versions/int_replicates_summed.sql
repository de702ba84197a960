with interactions as (
    select
        interaction_id, system, cluster_id,
        {{ query_key() }} as query_key
    from {{ ref('hcat', 'int_interactions') }}
    where coalesce(query_id, query_text) is not null
),

queries as (
    select system, query_key, min(cluster_id) as cluster_id
    from interactions
    group by system, query_key
    having count(*) > 1
),

final as (
    select
        queries.system, evaluations.metric_name, queries.query_key,
        min(queries.cluster_id) as cluster_id,
        count(evaluations.raw_score) as count_scored,
        {{ exact_mean('evaluations.raw_score') }} as mean_score,
        -- squared deviations from the mean, from whole numbers: no rounding, and no join with the mean
        (
            count(evaluations.raw_score)
            * sum({{ in_billionths('evaluations.raw_score') }} * {{ in_billionths('evaluations.raw_score') }})
            - sum({{ in_billionths('evaluations.raw_score') }}) * sum({{ in_billionths('evaluations.raw_score') }})
        )::double
        / nullif(count(evaluations.raw_score), 0) / 1e9 / 1e9 as squares_within,
        count(case when evaluations.is_failing_of_all then 1 end) as count_failing,
        count(case when not evaluations.is_failing_of_all then 1 end) as count_passing
    from interactions
    inner join queries on interactions.system = queries.system and interactions.query_key = queries.query_key
    inner join {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
        on interactions.interaction_id = evaluations.interaction_id
    group by queries.system, evaluations.metric_name, queries.query_key
)

select * from final
