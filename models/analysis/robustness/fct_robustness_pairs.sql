with queries as (
    select query_id, parent_query_id, variant_type from {{ ref('hcat', 'dim_queries') }}
    where parent_query_id is not null and parent_query_id <> query_id
),

grouped_queries as (
    select query_id, variant_meaning from {{ ref('hcat', 'int_queries') }}
),

-- pairs need no other query
paired_queries as (
    select query_id from queries
    union
    select parent_query_id as query_id from queries
),

interactions as (
    select
        interactions.interaction_id, interactions.query_id, interactions.cluster_id, interactions.system
    from {{ ref('hcat', 'int_interactions') }} as interactions
    inner join paired_queries on interactions.query_id = paired_queries.query_id
),

measured as (
    select
        interaction_id, metric_name,
        raw_score as score,
        not is_failing_of_all as is_right
    from {{ ref('hcat', 'int_primary_evaluations') }}
    union all
    select
        interaction_id,
        'answer_correctness' as metric_name,
        is_correct::integer::double as score,
        is_correct as is_right
    from {{ ref('hcat', 'int_answers_correct') }}
),

averaged as (
    select
        interactions.system, interactions.query_id, measured.metric_name,
        min(interactions.cluster_id) as cluster_id,
        {{ exact_mean('measured.score') }} as mean_score,
        -- of several answers to one query the majority decides; a tie decides nothing
        case
            when sum(measured.is_right::integer) > sum((not measured.is_right)::integer) then true
            when sum(measured.is_right::integer) < sum((not measured.is_right)::integer) then false
        end as is_right
    from interactions
    inner join measured on interactions.interaction_id = measured.interaction_id
    group by interactions.system, interactions.query_id, measured.metric_name
),

metrics as (
    select metric_name, direction from {{ ref('hcat', 'int_metric_catalog') }}
    union all
    select 'answer_correctness' as metric_name, 'higher_is_better' as direction
),

final as (
    select
        -- ids
        md5(concat_ws(chr(31), variants.system, queries.parent_query_id, queries.query_id, variants.metric_name))
            as robustness_pair_id,
        queries.parent_query_id,
        queries.query_id as variant_query_id,
        parents.cluster_id,

        -- strings
        variants.system, queries.variant_type, grouped_queries.variant_meaning, variants.metric_name,
        case
            when parents.is_right is null or variants.is_right is null then 'undecided'
            when parents.is_right and variants.is_right then 'both_right'
            when parents.is_right then 'broken'
            when variants.is_right then 'mended'
            else 'both_wrong'
        end as outcome,

        -- numerics
        parents.mean_score as parent_score,
        variants.mean_score as variant_score,
        -- positive = the variant does better
        case
            when metrics.direction = 'higher_is_better' then variants.mean_score - parents.mean_score
            else parents.mean_score - variants.mean_score
        end as score_change
    from queries
    inner join grouped_queries on queries.query_id = grouped_queries.query_id
    inner join averaged as variants on queries.query_id = variants.query_id
    inner join averaged as parents
        on
            queries.parent_query_id = parents.query_id
            and variants.system = parents.system
            and variants.metric_name = parents.metric_name
    inner join metrics on variants.metric_name = metrics.metric_name
)

select * from final
