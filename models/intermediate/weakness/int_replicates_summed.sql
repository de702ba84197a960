-- One row per (system, primary metric, dimension, segment, query that the system answered at least twice): how its
-- answers differ among themselves.
{{ config(materialized='table') }}

with interactions as (
    select
        interaction_id,
        case when system = '' then 'unnamed' else system end as system,
        source_group,
        coalesce(query_id, 'text_' || md5(lower({{ replace_pattern('trim(query_text)', '\\s+', ' ') }}))) as query_key
    from {{ ref('int_interactions_joined') }}
    where coalesce(query_id, query_text) is not null
),

replicated as (
    select * from interactions
    qualify count(*) over (partition by system, query_key) > 1
),

evaluations as (
    select * from {{ ref('int_primary_evaluations') }}
),

segments as (
    select *
    from {{ ref('int_interaction_segments') }}
    -- the system is part of the key
    where dimension <> 'system'
),

answers as (
    select
        replicated.system,
        evaluations.metric_name,
        segments.dimension,
        segments.segment,
        replicated.query_key,
        replicated.source_group,
        evaluations.raw_score,
        evaluations.is_failing_of_all
    from replicated
    inner join evaluations on replicated.interaction_id = evaluations.interaction_id
    inner join segments on replicated.interaction_id = segments.interaction_id
),

averaged as (
    select
        system,
        metric_name,
        dimension,
        segment,
        query_key,
        min(source_group) as source_group,
        count(raw_score) as count_scored,
        {{ exact_mean('raw_score') }} as mean_score,
        count(case when is_failing_of_all then 1 end) as count_failing,
        count(case when not is_failing_of_all then 1 end) as count_passing
    from answers
    group by system, metric_name, dimension, segment, query_key
),

deviated as (
    select
        answers.system,
        answers.metric_name,
        answers.dimension,
        answers.segment,
        answers.query_key,
        {{ exact_sum(
            '(answers.raw_score - averaged.mean_score) * (answers.raw_score - averaged.mean_score)'
        ) }} as squares_within
    from answers
    inner join averaged
        on
            answers.system = averaged.system
            and answers.metric_name = averaged.metric_name
            and answers.dimension = averaged.dimension
            and answers.segment = averaged.segment
            and answers.query_key = averaged.query_key
    where answers.raw_score is not null
    group by answers.system, answers.metric_name, answers.dimension, answers.segment, answers.query_key
),

final as (
    select averaged.*, deviated.squares_within
    from averaged
    left join deviated
        on
            averaged.system = deviated.system
            and averaged.metric_name = deviated.metric_name
            and averaged.dimension = deviated.dimension
            and averaged.segment = deviated.segment
            and averaged.query_key = deviated.query_key
)

select * from final
