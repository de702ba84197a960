-- The answer and the true answer each follow the query, so that they read as statements.

with interactions as (
    select interaction_id, is_refusal from {{ ref('hcat', 'int_interaction_attributes') }}
),

sources as (
    select correctness_source from {{ seed('correctness_sources') }}
    where correctness_source = 'entailment'
),

classifier as (
    select location from {{ ref('hcat', 'int_classifier') }}
    where location <> 'none'
),

undecided as (
    select
        answers_to_judge.interaction_id,
        trim(coalesce(answers_to_judge.query, '') || ' ' || answers_to_judge.answer) as answer_said,
        trim(coalesce(answers_to_judge.query, '') || ' ' || answers_to_judge.true_answer) as truth_said
    from {{ ref('hcat', 'int_answers_to_check') }} as answers_to_judge
    inner join {{ ref('hcat', 'int_answers_checked') }} as answers_checked
        on
            answers_to_judge.interaction_id = answers_checked.interaction_id
            and answers_to_judge.input_key = answers_checked.input_key
    inner join interactions on answers_to_judge.interaction_id = interactions.interaction_id
    cross join sources
    cross join classifier
    where
        -- The classifier does not overrule a rule that suspects an answer (a negation, several values).
        answers_checked.facts_status = 'undecided'
        and not interactions.is_refusal
        and trim(answers_to_judge.answer) <> ''
),

directed as (
    select interaction_id, 'answer_entails_truth' as direction, answer_said as premise, truth_said as claim
    from undecided
    union all
    select interaction_id, 'truth_entails_answer' as direction, truth_said as premise, answer_said as claim
    from undecided
),

final as (
    select *, {{ text_pair_id('premise', 'md5(claim)') }} as pair_id from directed
)

select * from final
