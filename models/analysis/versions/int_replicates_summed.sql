-- One row per (system, primary metric, segment, query that the system answered at least twice), with the variation of
-- its answers. Segments are cells of one dimension, and rows are summed by their keys.
{{ config(materialized='table') }}

with interactions as (
    select
        joined.interaction_id,
        joined.system,
        joined.cluster_id,
        {{ query_key('joined.') }} as query_key
    from {{ ref('hcat', 'int_interactions_joined') }} as joined
    where coalesce(joined.query_id, joined.query_text) is not null
),

queries as (
    select
        system,
        query_key,
        dense_rank() over (order by min(cluster_id)) as cluster_number,
        row_number() over (order by system, query_key) as query_number
    from interactions
    group by system, query_key
    having count(*) > 1
),

replicated as (
    select interactions.interaction_id, queries.query_number
    from interactions
    inner join queries on interactions.system = queries.system and interactions.query_key = queries.query_key
),

evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
),

segments as (
    select * from {{ ref('hcat', 'int_interaction_cells') }}
    -- the system is part of the key
    where second_dimension is null and first_dimension <> 'system'
),

named as (
    select distinct cell_key, first_dimension, first_segment from segments
),

summed as (
    select
        replicated.query_number,
        evaluations.metric_name,
        segments.cell_key,
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
    from replicated
    inner join evaluations on replicated.interaction_id = evaluations.interaction_id
    inner join segments on replicated.interaction_id = segments.interaction_id
    group by replicated.query_number, evaluations.metric_name, segments.cell_key
),

final as (
    select
        queries.system,
        summed.metric_name,
        named.first_dimension as dimension,
        named.first_segment as segment,
        queries.query_number,
        queries.cluster_number,
        summed.count_scored,
        summed.mean_score,
        summed.squares_within,
        summed.count_failing,
        summed.count_passing
    from summed
    inner join queries on summed.query_number = queries.query_number
    inner join named on summed.cell_key = named.cell_key
)

select * from final
