{{ config(materialized='table') }}

with evaluations as (
    select *
    from {{ ref('hcat', 'int_evaluations_decided') }}
    where score_status <> 'not_applicable'
),

metrics as (
    select metric_name
    from {{ ref('hcat', 'int_metric_catalog') }}
    where is_primary
),

-- sampling weights as whole numbers add up to the same sum in any order; where all are equal, each is 1
units as (
    select max(sampling_weight) / if(min(sampling_weight) = max(sampling_weight), 1, 1e5) as weight_unit
    from {{ ref('hcat', 'fct_interactions') }}
),

interactions as (
    select
        interactions.*, units.weight_unit,
        greatest(1, round(interactions.sampling_weight / units.weight_unit))::bigint as whole_weight
    from {{ ref('hcat', 'fct_interactions') }} as interactions
    cross join units
),

scored as (
    select
        evaluations.interaction_id, evaluations.metric_name, evaluations.score_status, evaluations.raw_score,
        evaluations.threshold, evaluations.is_failing,
        -- refusing or staying silent when an answer was due must not look perfect
        case
            when evaluations.threshold is null then null
            when evaluations.is_failing is not null then evaluations.is_failing
            when not interactions.is_answered then true
            when interactions.is_refusal and interactions.expected_behaviour = 'answer' then true
        end as is_failing_of_all,
        interactions.is_in_release_population, interactions.is_in_monitored_population, interactions.whole_weight,
        interactions.weight_unit
    from evaluations
    inner join metrics on evaluations.metric_name = metrics.metric_name
    inner join interactions on evaluations.interaction_id = interactions.interaction_id
    where evaluations.score_status <> 'missing_input' or not interactions.is_answered
),

-- a comparison must not turn on which answers raters read: relevance and completeness count where scores decide them
decided as (
    select
        coalesce(bool_or(criterion = 'relevance'), false) as is_relevance_scored,
        coalesce(bool_or(criterion = 'completeness'), false) as is_completeness_scored
    from {{ ref('hcat', 'dim_metrics') }}
    where is_deciding
),

-- the verdict is a metric too: 1 = acceptable, 0 = failing, null = nothing decides
judged as (
    select
        verdicts.interaction_id, metrics.metric_name,
        if(verdicts.verdict = 'failing', 'undecided', verdicts.verdict) as status_without_score,
        case
            when not (
                    verdicts.behaves and verdicts.grounded and verdicts.safe
                    and (verdicts.relevant or not decided.is_relevance_scored)
                    and (verdicts.complete or not decided.is_completeness_scored)
                )
                then 0.0
            when if(interactions.is_refusal, verdicts.behaves, verdicts.grounded) then 1.0
        end as raw_score,
        verdicts.is_in_release_population, verdicts.is_in_monitored_population, interactions.whole_weight,
        interactions.weight_unit
    from {{ ref('hcat', 'fct_verdicts') }} as verdicts
    inner join metrics on metrics.metric_name = 'verdict'
    inner join interactions on verdicts.interaction_id = interactions.interaction_id
    cross join decided
)

select * from scored
union all
select
    interaction_id, metric_name, if(raw_score is null, status_without_score, 'scored') as score_status, raw_score,
    1.0 as threshold, raw_score = 0 as is_failing, raw_score = 0 as is_failing_of_all, is_in_release_population,
    is_in_monitored_population, whole_weight, weight_unit
from judged
