-- This is a table, so that its rows are counted before further joins. For a view, the engine estimates a thousandth of
-- the rows, takes it for the small side of a join and holds all of it in memory. It is written bucket by bucket,
-- because the aggregates of all families exceed the memory together at scale.
{{ config(
    materialized='table',
    pre_hook="{{ cut_into_buckets() }}",
    post_hook="{{ insert_other_buckets() }}"
) }}

with expected as (
    select * from {{ ref('hcat', 'int_evaluations_expected') }}
    where {{ is_in_bucket('interaction_id') }}
),

metrics_unioned as (
    select * from {{ ref('hcat', 'int_metrics_unioned') }}
    where {{ is_in_bucket('interaction_id') }}
),

final as (
    select
        expected.evaluation_id,
        expected.interaction_id,
        expected.metric_name,
        case
            when expected.expected_status = 'refused' then expected.score_when_refused
            when expected.expected_status is not null then null
            when {{ is_finite('metrics_unioned.raw_score') }} then metrics_unioned.raw_score
        end as raw_score,
        case
            when expected.expected_status is not null then expected.expected_status
            when metrics_unioned.score_status = 'not_applicable' then 'not_applicable'
            -- All inputs of the metric exist, but no number resulted.
            when metrics_unioned.raw_score is null or not {{ is_finite('metrics_unioned.raw_score') }} then 'failed'
            else metrics_unioned.score_status
        end as score_status,
        case when expected.expected_status is null then metrics_unioned.scored_count end as scored_count,
        case when expected.expected_status is not null then expected.expected_detail else metrics_unioned.detail end
            as detail
    from expected
    left join metrics_unioned on expected.evaluation_id = metrics_unioned.evaluation_id
)

select * from final
