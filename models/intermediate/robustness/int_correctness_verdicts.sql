-- One row per (interaction, source of correctness) that decides it. Another source of verdicts is one more union and one
-- row of the seed correctness_sources.
with interactions as (
    select * from {{ ref('int_interactions_classified') }}
),

labels as (
    select * from {{ ref('int_ratings_adjudicated') }}
),

criteria as (
    select criterion from {{ ref('correctness_criteria') }}
),

answers_to_judge as (
    select interaction_id, input_key from {{ ref('int_answers_to_judge') }}
),

answers_judged as (
    select * from {{ ref('int_answers_judged') }}
),

-- one criterion that people deny makes an answer wrong
labelled as (
    select
        labels.interaction_id,
        'label' as correctness_source,
        min(labels.label) = 1 as is_correct,
        string_agg(labels.criterion || ': ' || labels.label_status, ', ' order by labels.criterion) as reason
    from labels
    inner join criteria on labels.criterion = criteria.criterion
    where labels.label is not null
    group by labels.interaction_id
),

ruled as (
    select
        interactions.interaction_id,
        'rule' as correctness_source,
        case
            when interactions.expected_behaviour = 'refuse' then interactions.is_refusal
            when answers_judged.is_correct is not null then answers_judged.is_correct
            when interactions.is_refusal and answers_judged.judgement_reason <> 'refusal_beside_match' then false
        end as is_correct,
        case
            when interactions.expected_behaviour = 'refuse' and interactions.is_refusal then 'refused_as_expected'
            when interactions.expected_behaviour = 'refuse' then 'not_refused'
            when answers_judged.is_correct is null and interactions.is_refusal then 'refusal'
            else answers_judged.judgement_reason
        end as reason
    from interactions
    left join answers_to_judge on interactions.interaction_id = answers_to_judge.interaction_id
    left join answers_judged
        on
            answers_to_judge.interaction_id = answers_judged.interaction_id
            and answers_to_judge.input_key = answers_judged.input_key
    where interactions.expected_behaviour = 'refuse' or answers_judged.interaction_id is not null
),

final as (
    select interaction_id, correctness_source, is_correct, reason from labelled
    union all
    select interaction_id, correctness_source, is_correct, reason from ruled
    where is_correct is not null
)

select * from final
