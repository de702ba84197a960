{{ config(materialized='table') }}

with sources as (
    select correctness_source, priority from {{ seed('correctness_sources') }}
),

answers_to_judge as (
    select interaction_id, input_key from {{ ref('hcat', 'int_answers_to_check') }}
),

answers_checked as (
    select answers_checked.*
    from {{ ref('hcat', 'int_answers_checked') }} as answers_checked
    inner join answers_to_judge
        on
            answers_checked.interaction_id = answers_to_judge.interaction_id
            and answers_checked.input_key = answers_to_judge.input_key
),

chosen as (
    select
        verdicts.*,
        count(*) over (partition by verdicts.interaction_id) as count_verdicts,
        -- disagreements of sources are counted, because they show how reliable rules and models are
        count(case when verdicts.is_correct then 1 end) over (partition by verdicts.interaction_id)
            as count_saying_correct
    from {{ ref('hcat', 'int_correctness_verdicts') }} as verdicts
    inner join sources on verdicts.correctness_source = sources.correctness_source
    qualify
        row_number() over (partition by verdicts.interaction_id order by sources.priority, sources.correctness_source)
        = 1
),

final as (
    select
        interactions.interaction_id, interactions.query_id, interactions.cluster_id, interactions.system,
        queries_grouped.query_group,
        coalesce(interactions.variant_type, 'original') as variant_type,
        interactions.expected_behaviour, answers_checked.answer_kind,
        case
            when chosen.is_correct then 'correct'
            when not chosen.is_correct then 'incorrect'
            else 'undecided'
        end as correctness_status,
        chosen.correctness_source,
        coalesce(chosen.reason, answers_checked.facts_reason, answers_checked.check_reason) as reason,
        chosen.is_correct,
        coalesce(chosen.count_saying_correct between 1 and chosen.count_verdicts - 1, false) as is_disputed
    from {{ ref('hcat', 'int_interactions') }} as interactions
    left join {{ ref('hcat', 'int_queries') }} as queries_grouped on interactions.query_id = queries_grouped.query_id
    left join answers_checked on interactions.interaction_id = answers_checked.interaction_id
    left join chosen on interactions.interaction_id = chosen.interaction_id
    where
        chosen.interaction_id is not null
        or answers_checked.interaction_id is not null
)

select * from final
