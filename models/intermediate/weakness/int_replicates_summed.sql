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

final as (
    select
        system,
        metric_name,
        dimension,
        segment,
        query_key,
        min(source_group) as source_group,
        count(raw_score) as count_scored,
        {{ exact_mean('raw_score') }} as mean_score,
        {{ exact_squared_deviations('raw_score') }} as squares_within,
        count(case when is_failing_of_all then 1 end) as count_failing,
        count(case when not is_failing_of_all then 1 end) as count_passing
    from answers
    group by system, metric_name, dimension, segment, query_key
)

select * from final
