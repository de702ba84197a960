with interactions as (
    select * from {{ ref('hcat', 'fct_interactions') }}
    where conversation_key is not null
),

-- what nothing may decide has no verdict
verdicts as (
    select interaction_id, failed_criterion, verdict = 'failing' as is_failing from {{ ref('hcat', 'fct_verdicts') }}
    where verdict in ('acceptable', 'failing')
),

evaluations as (
    select interaction_id, raw_score as groundedness from {{ ref('hcat', 'fct_evaluations') }}
    where metric_name = 'groundedness'
),

turns as (
    select
        interactions.conversation_key, interactions.conversation_id, interactions.interaction_id,
        interactions.cluster_id, interactions.system, interactions.answer_run_id, interactions.turn_index,
        interactions.count_turns, interactions.asked_at,
        verdicts.is_failing, verdicts.failed_criterion, evaluations.groundedness,
        row_number() over (
            partition by interactions.conversation_key
            order by
                case when verdicts.is_failing then 0 else 1 end, interactions.turn_index, interactions.interaction_id
        ) as failing_place,
        row_number() over (
            partition by interactions.conversation_key
            order by
                {{ without_noise('evaluations.groundedness') }} nulls last,
                interactions.turn_index,
                interactions.interaction_id
        ) as weakness_place
    from interactions
    left join verdicts on interactions.interaction_id = verdicts.interaction_id
    left join evaluations on interactions.interaction_id = evaluations.interaction_id
),

sentences as (
    select
        turns.conversation_key, turns.turn_index, turns.is_failing,
        -- the words of a sentence, whatever its case and its marks
        {{ replace_pattern('lower(sentence_evidence.sentence_text)', '[^\\p{L}\\p{N}]+', ' ') }} as sentence,
        coalesce(sentence_evidence.is_flagged, false)
        or coalesce(sentence_evidence.is_contradicted, false)
        or coalesce(sentence_evidence.count_numbers > sentence_evidence.count_numbers_supported, false)
        or coalesce(sentence_evidence.count_entities > sentence_evidence.count_entities_supported, false)
            as is_unsupported
    from turns
    inner join {{ ref('hcat', 'fct_sentence_evidence') }} as sentence_evidence
        on turns.interaction_id = sentence_evidence.interaction_id
),

errors as (
    select conversation_key, sentence, min(turn_index) as error_turn
    from sentences
    where is_failing and is_unsupported
    group by conversation_key, sentence
),

repeated as (
    select
        errors.conversation_key,
        count(distinct sentences.turn_index)::integer as count_repeating,
        min(sentences.turn_index)::integer as first_repeating_turn
    from errors
    inner join sentences
        on
            errors.conversation_key = sentences.conversation_key
            and errors.sentence = sentences.sentence
            and errors.error_turn < sentences.turn_index
    group by errors.conversation_key
),

summed as (
    select
        conversation_key,
        min(conversation_id) as conversation_id,
        min(cluster_id) as cluster_id,
        min(system) as system,
        min(answer_run_id) as answer_run_id,
        max(case when failing_place = 1 and is_failing then interaction_id end) as first_failing_interaction_id,
        max(case when failing_place = 1 and is_failing then failed_criterion end) as first_failed_criterion,
        max(case when weakness_place = 1 and groundedness is not null then interaction_id end)
            as weakest_interaction_id,
        max(count_turns)::integer as count_turns,
        count(distinct turn_index)::integer as count_logged_turns,
        count(is_failing)::integer as count_judged,
        sum(case when is_failing then 1 else 0 end)::integer as count_failing,
        min(case when is_failing then turn_index end)::integer as first_failing_turn,
        min(groundedness) as least_groundedness,
        min(asked_at) as first_asked_at,
        max(asked_at) as last_asked_at
    from turns
    group by conversation_key
)

select {{ columns_of_contract({
    'share_failing': 'summed.count_failing / nullif(summed.count_judged, 0)::double',
    'count_repeating': 'coalesce(repeated.count_repeating, 0)',
    'first_repeating_turn': 'repeated.first_repeating_turn',
    'is_error_repeated': 'repeated.conversation_key is not null',
}, of='summed') }}
from summed
left join repeated on summed.conversation_key = repeated.conversation_key
