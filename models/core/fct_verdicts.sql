-- What counts as a wrong answer, said once: the first rule below that applies decides.
with interactions as (
    select interaction_id, query_id, cluster_id, system, topic, expected_behaviour, is_answered, is_refusal
    from {{ ref('hcat', 'fct_interactions') }}
),

-- The metric of the headline family of cells. All its rows of the seed name the same one.
headline as (
    select min(headline_metric) as metric_name from {{ seed('analysis_dimension_pairs') }}
),

evaluations as (
    select
        interaction_id,
        metric_name,
        score_status,
        label_rater_kind,
        human_label,
        prediction_set,
        raw_score,
        threshold,
        is_failing
    from {{ ref('hcat', 'fct_evaluations') }}
    where metric_name in (select headline.metric_name from headline)
),

joined as (
    select
        interactions.*,
        headline.metric_name,
        evaluations.score_status,
        evaluations.label_rater_kind,
        evaluations.prediction_set,
        evaluations.human_label,
        evaluations.raw_score,
        evaluations.threshold,
        evaluations.is_failing
    from interactions
    cross join headline
    left join evaluations on interactions.interaction_id = evaluations.interaction_id
),

ruled as (
    select
        *,
        case
            -- Raters of support accept a refusal, because it claims nothing. So what was due comes before their label.
            when not is_answered then 'no_answer'
            when is_refusal and expected_behaviour = 'answer' then 'refused_although_answer_due'
            when not is_refusal and expected_behaviour = 'refuse' then 'answered_although_refusal_due'
            when human_label = 0 then 'failed_by_raters'
            when human_label = 1 then 'accepted_by_raters'
            when is_refusal then 'refused_as_expected'
            when prediction_set = 'failed' then 'set_failed'
            when prediction_set = 'accepted' then 'set_accepted'
            when prediction_set is not null then 'set_undecided'
            when is_failing then 'beyond_threshold'
            when not is_failing then 'within_threshold'
            when raw_score is not null then 'no_threshold'
            else 'no_score'
        end as verdict_rule
    from joined
),

final as (
    select
        -- ids
        interaction_id,
        query_id,
        cluster_id,

        -- strings
        system,
        topic,
        metric_name,
        case
            when
                verdict_rule in (
                    'no_answer', 'refused_although_answer_due', 'answered_although_refusal_due', 'failed_by_raters',
                    'set_failed', 'beyond_threshold'
                )
                then 'failing'
            when
                verdict_rule in ('accepted_by_raters', 'refused_as_expected', 'set_accepted', 'within_threshold')
                then 'acceptable'
            when verdict_rule = 'set_undecided' then 'undecided'
            else 'not_judged'
        end as verdict,
        verdict_rule,
        case verdict_rule
            when 'no_answer' then 'There is no answer.'
            when 'refused_although_answer_due' then 'The answer declines, and the query expects an answer.'
            when 'answered_although_refusal_due' then 'The answer does not decline, and the query expects that it does.'
            when 'failed_by_raters' then 'Raters failed the answer (' || replace(label_rater_kind, '_', ' ') || ').'
            when 'accepted_by_raters'
                then 'Raters accepted the answer (' || replace(label_rater_kind, '_', ' ') || ').'
            when 'refused_as_expected' then 'The answer declines, as the query expects.'
            when 'set_failed' then 'No human label. The prediction set of ' || metric_name || ' holds only failed.'
            when 'set_accepted' then 'No human label. The prediction set of ' || metric_name || ' holds only accepted.'
            when 'set_undecided' then 'No human label. The prediction set of ' || metric_name || ' decides nothing.'
            when 'beyond_threshold'
                then 'No human label, no prediction set. ' || metric_name || ' is on the failing side of its threshold.'
            when 'within_threshold'
                then 'No human label, no prediction set. ' || metric_name || ' is on the passing side of its threshold.'
            when 'no_threshold' then 'No human label, no prediction set, and no threshold of ' || metric_name || '.'
            else
                'No human label, and no score of ' || coalesce(metric_name, 'a headline metric')
                || coalesce(': ' || replace(score_status, '_', ' '), '') || '.'
        end as verdict_reason,
        label_rater_kind,
        prediction_set,

        -- numerics
        human_label,
        raw_score,
        threshold,

        -- booleans
        is_failing
    from ruled
)

select * from final
