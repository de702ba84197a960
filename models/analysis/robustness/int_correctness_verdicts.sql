-- To add another source of verdicts, add one union here and one row to the seed correctness_sources.
with interactions as (
    select * from {{ ref('hcat', 'int_interaction_attributes') }}
),

labels as (
    select *
    from {{ ref_if_on(
        'calibration', 'int_ratings_adjudicated', 'interaction_id, criterion, label integer, label_status'
    ) }}
),

criteria as (
    select criterion
    from {{ ref_if_on('calibration', 'rating_criteria', 'criterion, correct_from integer') }}
    where correct_from is not null
),

answers_to_judge as (
    select interaction_id, input_key from {{ ref('hcat', 'int_answers_to_check') }}
),

-- results for this wording and these rules only
answers_checked as (
    select judged.*
    from {{ ref('hcat', 'int_answers_checked') }} as judged
    inner join answers_to_judge
        on judged.interaction_id = answers_to_judge.interaction_id and judged.input_key = answers_to_judge.input_key
),

pairs_entailed as (
    select entailed.*
    from {{ ref('hcat', 'int_pairs_entailed') }} as entailed
    inner join {{ ref('hcat', 'int_classifier') }} as classifier on entailed.classifier_key = classifier.classifier_key
),

-- an answer is wrong if people deny a single criterion
labelled as (
    select
        labels.interaction_id,
        'label' as correctness_source,
        min(labels.label) = 1 as is_correct,
        {{ joined_text("labels.criterion || ': ' || labels.label_status", "', '", 'labels.criterion') }} as reason
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
            when answers_checked.is_correct is not null then answers_checked.is_correct
            when interactions.is_refusal and answers_checked.check_reason <> 'refusal_beside_match' then false
        end as is_correct,
        case
            when interactions.expected_behaviour = 'refuse' and interactions.is_refusal then 'refused_as_expected'
            when interactions.expected_behaviour = 'refuse' then 'not_refused'
            when answers_checked.is_correct is null and interactions.is_refusal then 'refusal'
            else answers_checked.check_reason
        end as reason
    from interactions
    left join answers_checked on interactions.interaction_id = answers_checked.interaction_id
    where interactions.expected_behaviour = 'refuse' or answers_checked.interaction_id is not null
),

-- numbers, names and words of a true answer of whole sentences; a refusal states none
compared as (
    select
        answers_checked.interaction_id,
        'facts' as correctness_source,
        answers_checked.facts_status = 'correct' as is_correct,
        answers_checked.facts_reason as reason
    from answers_checked
    inner join interactions on answers_checked.interaction_id = interactions.interaction_id
    where answers_checked.facts_status <> 'undecided' and not interactions.is_refusal
),

-- the most probable class of both directions: one says the other and no more, or either contradicts
directions as (
    select
        pairs.interaction_id,
        bool_and(coalesce(pairs_entailed.margin > 0, false)) as is_entailed,
        coalesce(
            bool_or(
                pairs_entailed.probability_contradiction > pairs_entailed.probability_entailment
                and pairs_entailed.probability_contradiction
                > 1 - pairs_entailed.probability_entailment - pairs_entailed.probability_contradiction
            ), false
        ) as is_contradicted
    from {{ ref('hcat', 'int_correctness_pairs') }} as pairs
    inner join pairs_entailed on pairs.pair_id = pairs_entailed.pair_id
    group by pairs.interaction_id
),

entailed as (
    select
        interaction_id,
        'entailment' as correctness_source,
        is_entailed as is_correct,
        case when is_entailed then 'entail each other' else 'contradiction' end as reason
    from directions
    where is_entailed <> is_contradicted
),

final as (
    select interaction_id, correctness_source, is_correct, reason from labelled
    union all
    select interaction_id, correctness_source, is_correct, reason from ruled
    where is_correct is not null
    union all
    select interaction_id, correctness_source, is_correct, reason from compared
    union all
    select interaction_id, correctness_source, is_correct, reason from entailed
)

select * from final
