-- One row per (system, query, metric), with the mean score of its answers and the share of them that is right by the
-- decided threshold of the metric. answer_correctness is the true correctness, 0 or 1.
{{ config(materialized='table') }}

with queries as (
    select query_id, parent_query_id from {{ ref('hcat', 'stg_queries') }}
),

-- only variants and their parents, because pairs need no other query
paired_queries as (
    select query_id
    from queries
    where parent_query_id is not null
    union
    select parent_query_id as query_id
    from queries
    where parent_query_id is not null
),

interactions as (
    select
        interactions.interaction_id,
        interactions.query_id,
        interactions.cluster_id,
        interactions.system
    from {{ ref('hcat', 'int_interactions_joined') }} as interactions
    inner join paired_queries on interactions.query_id = paired_queries.query_id
),

evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
),

answers as (
    select interaction_id, is_correct from {{ ref('hcat', 'int_answers_correct') }}
),

measured as (
    select
        interaction_id,
        metric_name,
        raw_score as score,
        not is_failing_of_all as is_right
    from evaluations
    union all
    select
        interaction_id,
        'answer_correctness' as metric_name,
        is_correct::integer::double as score,
        is_correct as is_right
    from answers
),

final as (
    select
        interactions.system,
        interactions.query_id,
        measured.metric_name,
        min(interactions.cluster_id) as cluster_id,
        count(*) as count_answers,
        {{ exact_mean('measured.score') }} as mean_score,
        {{ exact_mean('measured.is_right::integer') }} as share_right,
        -- of several answers to one query the majority decides; a tie decides nothing
        case
            when sum(measured.is_right::integer) > sum((not measured.is_right)::integer) then true
            when sum(measured.is_right::integer) < sum((not measured.is_right)::integer) then false
        end as is_right
    from interactions
    inner join measured on interactions.interaction_id = measured.interaction_id
    group by interactions.system, interactions.query_id, measured.metric_name
)

select * from final
