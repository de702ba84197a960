-- One row per (system, primary metric, segment, query that the system answered at least twice), with the variation of
-- its answers. All is by number: by name a million interactions exceed the memory, and the rows take twice the time.
{{ config(materialized='table') }}

with interactions as (
    select
        numbered.interaction_number,
        joined.system,
        joined.cluster_id,
        {{ query_key('joined.') }} as query_key
    from {{ ref('hcat', 'int_interactions_joined') }} as joined
    inner join {{ ref('hcat', 'int_interactions_numbered') }} as numbered
        on joined.interaction_id = numbered.interaction_id
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
    select interactions.interaction_number, queries.query_number
    from interactions
    inner join queries on interactions.system = queries.system and interactions.query_key = queries.query_key
),

evaluations as (
    select * from {{ ref('hcat', 'int_evaluations_numbered') }}
),

metrics as (
    select * from {{ ref('hcat', 'int_metrics_numbered') }}
),

segments as (
    select * from {{ ref('hcat', 'int_segments_numbered') }}
    -- the system is part of the key
    where dimension <> 'system'
),

interaction_segments as (
    select interactions.interaction_number, segments.segment_number
    from {{ ref('hcat', 'int_interaction_segments') }} as interaction_segments
    inner join {{ ref('hcat', 'int_interactions_numbered') }} as interactions
        on interaction_segments.interaction_id = interactions.interaction_id
    inner join segments
        on interaction_segments.dimension = segments.dimension and interaction_segments.segment = segments.segment
),

summed as (
    select
        replicated.query_number,
        evaluations.metric_number,
        interaction_segments.segment_number,
        count(evaluations.whole_score) as count_scored,
        sum({{ whole_number('evaluations.whole_score') }}) as sum_scores,
        sum({{ whole_number('evaluations.squared_score') }}) as sum_squares,
        count(case when evaluations.failing_of_all = 1 then 1 end) as count_failing,
        count(case when evaluations.failing_of_all = 0 then 1 end) as count_passing
    from replicated
    inner join evaluations on replicated.interaction_number = evaluations.interaction_number
    inner join interaction_segments on replicated.interaction_number = interaction_segments.interaction_number
    group by replicated.query_number, evaluations.metric_number, interaction_segments.segment_number
),

final as (
    select
        queries.system,
        summed.metric_number,
        summed.segment_number,
        queries.query_number,
        queries.cluster_number,
        summed.count_scored,
        summed.sum_scores::double / metrics.scores_per_unit / nullif(summed.count_scored, 0) as mean_score,
        -- squared deviations from the mean, from whole numbers: no rounding, and no join with the mean
        (summed.count_scored * summed.sum_squares - summed.sum_scores * summed.sum_scores)::double
        / nullif(summed.count_scored, 0) / (metrics.scores_per_unit * metrics.scores_per_unit) as squares_within,
        summed.count_failing,
        summed.count_passing
    from summed
    inner join queries on summed.query_number = queries.query_number
    inner join metrics on summed.metric_number = metrics.metric_number
)

select * from final
