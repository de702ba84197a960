-- One row per (interaction, catalogued metric): the score, or the status that says why there is none.
-- A table: joined further without being counted first, it is guessed at a thousandth of its rows, and what is taken for
-- the small side of a join is then held in memory whole.
{{ config(materialized='table') }}

with expected as (
    select * from {{ ref('int_evaluations_expected') }}
),

metrics_unioned as (
    select * from {{ ref('int_metrics_unioned') }}
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
            -- everything that the metric needs is there and yet no number came out
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
