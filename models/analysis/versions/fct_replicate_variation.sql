with answers as (
    select interaction_id, system, cluster_id, {{ query_key() }} as query_key
    from {{ ref('hcat', 'int_interactions') }}
    where coalesce(query_id, query_text) is not null
),

queries as (
    select system, query_key, min(cluster_id) as cluster_id
    from answers
    group by system, query_key
    having count(*) > 1
),

-- of a query that the system answered at least twice
by_query as (
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
    from answers
    inner join queries on answers.system = queries.system and answers.query_key = queries.query_key
    inner join {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
        on answers.interaction_id = evaluations.interaction_id
    group by queries.system, evaluations.metric_name, queries.query_key
),

replicates as (
    select
        *,
        -- two answers or more can differ
        count_scored > 1 as is_score_replicated,
        count_failing + count_passing > 1 as is_outcome_replicated
    from by_query
),

systems as (
    select distinct system from {{ ref('hcat', 'fct_interactions') }}
),

metrics as (
    select metric_name from {{ ref('hcat', 'int_metric_catalog') }}
    where is_primary
),

means as (
    select
        system, metric_name,
        {{ exact_sum('count_scored * mean_score') }} / nullif(sum(count_scored), 0) as mean_score
    from replicates
    group by system, metric_name
),

summed as (
    select
        replicates.system, replicates.metric_name,
        max(means.mean_score) as mean_score,
        count(*) as count_queries,
        sum(replicates.count_scored) as count_scored,
        count(case when replicates.count_scored > 0 then 1 end) as count_scored_queries,
        count(case when replicates.is_score_replicated then 1 end) as count_replicated_queries,
        count(distinct case when replicates.is_score_replicated then replicates.cluster_id end)
            as count_replicated_clusters,
        sum(replicates.count_scored * replicates.count_scored) / nullif(sum(replicates.count_scored), 0)::double
            as scored_concentration,
        coalesce({{ exact_sum('replicates.squares_within') }}, 0) as squares_within,
        {{ exact_sum(
            'replicates.count_scored * (replicates.mean_score - means.mean_score)'
            ~ ' * (replicates.mean_score - means.mean_score)'
        ) }} as squares_between,
        count(case when replicates.is_outcome_replicated then 1 end) as count_outcome_queries,
        count(distinct case when replicates.is_outcome_replicated then replicates.cluster_id end)
            as count_outcome_clusters,
        avg(
            case
                when replicates.is_outcome_replicated
                    then (replicates.count_failing > 0 and replicates.count_passing > 0)::integer
            end
        ) as share_queries_flipping,
        -- the chance that two answers to one query, drawn without replacement, disagree
        {{ exact_mean(
            'case when replicates.is_outcome_replicated then'
            ~ ' (replicates.count_failing * replicates.count_passing'
            ~ ' + replicates.count_passing * replicates.count_failing)'
            ~ ' / ((replicates.count_failing + replicates.count_passing)'
            ~ ' * (replicates.count_failing + replicates.count_passing - 1))::double end'
        ) }} as flip_rate
    from replicates
    inner join means on replicates.system = means.system and replicates.metric_name = means.metric_name
    group by replicates.system, replicates.metric_name
),

-- one-way analysis of variance with queries as groups (method of moments)
estimated as (
    select
        *,
        case when count_replicated_queries > 0 then squares_within / (count_scored - count_scored_queries) end
            as variance_within,
        case when count_scored_queries > 1 then squares_between / (count_scored_queries - 1) end as mean_square_between,
        (count_scored - scored_concentration) / nullif(count_scored_queries - 1, 0) as typical_replicates
    from summed
),

separated as (
    select
        *,
        -- noise can make the estimate negative: then nothing is shown to lie between queries
        case
            when mean_square_between is not null and variance_within is not null
                then greatest((mean_square_between - variance_within) / typical_replicates, 0)
        end as variance_between
    from estimated
),

final as (
    select
        -- ids
        md5(concat_ws('|', systems.system, metrics.metric_name)) as replicate_variation_id,

        -- strings
        systems.system, metrics.metric_name,
        case
            when coalesce(greatest(estimated.count_replicated_queries, estimated.count_outcome_queries), 0) = 0
                then 'no_replicates'
            when
                greatest(estimated.count_replicated_clusters, estimated.count_outcome_clusters)
                < {{ var('hcat_minimum_segment_clusters') }}
                then 'too_few_clusters'
            else 'measured'
        end as status,

        -- numerics
        coalesce(estimated.count_queries, 0) as count_queries,
        coalesce(estimated.count_scored, 0)::bigint as count_scored,
        coalesce(estimated.count_replicated_queries, 0)::bigint as count_replicated_queries,
        coalesce(estimated.count_replicated_clusters, 0) as count_replicated_clusters,
        estimated.mean_score, estimated.variance_between, estimated.variance_within,
        estimated.variance_within / nullif(estimated.variance_within + estimated.variance_between, 0)
            as share_of_variance_within,
        estimated.flip_rate, estimated.share_queries_flipping,
        {{ wilson_bound('estimated.share_queries_flipping', 'estimated.count_outcome_clusters', 'lower') }}
            as share_queries_flipping_lower,
        {{ wilson_bound('estimated.share_queries_flipping', 'estimated.count_outcome_clusters', 'upper') }}
            as share_queries_flipping_upper
    -- a system that was never asked twice is a row as well
    from systems
    cross join metrics
    left join separated as estimated
        on systems.system = estimated.system and metrics.metric_name = estimated.metric_name
)

select * from final
