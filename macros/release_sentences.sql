{#
    The sentences of fct_release_decisions, which report, summary, alert and explorer print. Each reads columns of that model
    by their names, so that the rules of a decision stand there without prose.
#}

{# Which candidate, against what, and the decision. #}
{% macro release_headline() -%}
    if(application = 'unnamed', 'The assistant', application)
    || if(candidate = 'unnamed', '', ', candidate ' || candidate) || coalesce(' against ' || baseline, '') || ': '
    || replace(decision, '_', ' ') || '.'
{%- endmacro %}

{# The gate that decides, in its own words, without how the gate says it. #}
{% macro release_reason() -%}
    regexp_replace(replace(replace(
        case decision
            when 'do_not_release' then stopping_reason
            when 'not_decided'
                then case
                    when count_asked = 0 then 'No gate asks how many answers fail'
                    else coalesce(open_reason, 'No answer of the candidate has a verdict')
                end
            when 'go_with_conditions'
                then coalesce(
                    condition_reason,
                    if(count_labels > 0, 'No known rater', 'Nobody rated an answer') || ': scores decide'
                )
            else 'All ' || count_gates || ' gates pass'
                || if(count_complete > 0, '', '; completeness was not judged')
        end || '.',
        ': failed.', '.'
    ), ': failed; ', '; '), '; [0-9]+ of [0-9]+ answers are judged', '')
{%- endmacro %}

{# How many answers fail, how sure that is, who rated, and what nobody judged. #}
{% macro how_often_answers_fail() -%}
    coalesce(
        if(count_labels = 0, 'By rules and scores alone, ', '') || released_words || ' of the answers to '
        || if(release_population = 'test_set', 'the test set', 'users') || ' fail'
        || coalesce(', and ' || asked_words || ' of the answers to users', '') || '. ',
        'Too few of ' || count_interactions || ' answers have a verdict to state a rate: ' || count_judged || '. ',
        'No answer of the candidate has a verdict. '
    )
    || case
        when count_labels = 0 then 'Nobody rated any of them, and this leaves out the errors of the scores.'
        when count_labels_by_people + count_labels_by_language_models = 0
            then 'Raters who are not known to be people rated ' || count_labels || ': name them in the seed raters.'
        when count_labels_by_people = 0
            then 'No person rated any of them: a language model rated ' || count_labels_by_language_models || '.'
        else 'People rated ' || count_labels_by_people || ' of them'
            || if(
                count_labels_by_language_models > 0,
                ', and a language model rated ' || count_labels_by_language_models, ''
            ) || '.'
    end
    || case
        when count_complete = 0 then ' Completeness was not judged: an answer that leaves out half can pass.'
        when count_complete < count_interactions
            then ' Completeness was judged for ' || count_complete || ' of ' || count_interactions || ' answers.'
        else ''
    end
    || coalesce(
        ' Answers that decline, where nobody said whether they should: ' || nullif(count_all_declined, 0) || '.', ''
    )
{%- endmacro %}

{# Since when users get worse answers, else how the versions compare over the same queries, else the weeks. #}
{% macro what_changed() -%}
    case
        when changed_on is not null
            then 'Since ' || changed_on || ', ' || since_words || ' of the answers to users fail'
            || coalesce('; before, ' || before_words, '') || '.'
        when count_pairs > 0 and difference_lower is null
            then 'Too few queries have a verdict in both versions to compare them: ' || count_pairs || '.'
        when count_pairs > 0
            then 'Over ' || count_pairs || ' queries asked of both versions, the share that fails '
            || case
                when difference_lower > 0 then 'is lower than before'
                when difference_upper < 0 then 'is higher than before'
                else 'is not shown to differ'
            end
            || ' (' || round(-100 * difference_upper)::integer || ' to ' || round(-100 * difference_lower)::integer
            || ' points).'
        when baseline is null then coalesce(compared_words, 'There is no earlier version to compare with.')
        else 'No query has a verdict in both versions.'
    end
{%- endmacro %}

{# The most frequent kind of fault, and what to read and rate. #}
{% macro what_to_do_next() -%}
    case
        when failed_criterion is not null
            then 'Most faults: ' || count_failing || ' of ' || count_all_failing || ' failing answers are not '
            || if(failed_criterion = 'behaves', 'what was due (an answer, or a refusal)', failed_criterion)
            || '. '
        else ''
    end
    || 'Read the ten answers with the lowest score first'
    || case
        when count_labels_by_people = 0 then ', and let a person rate 60 answers.'
        when decision = 'not_decided' then ', and let people rate 60 more.'
        else '.'
    end
{%- endmacro %}

{# Weeks of production in which no alarm was raised, and which difference raises one. #}
{% macro weeks_compared() -%}
    case
        when status <> 'tested'
            then 'Whether answers to users got worse over the weeks was not tested (' || replace(status, '_', ' ')
            || '): ' || count_window || ' judged in the latest weeks, and ' || count_reference || ' before.'
        else 'Since ' || window_start || ', ' || round(100 * (1 - value_window))::integer || ' % of '
            || count_window || ' judged answers to users fail; before, '
            || round(100 * (1 - value_reference))::integer || ' % of ' || count_reference || '. The difference ('
            || round(-100 * difference_upper)::integer || ' to ' || round(-100 * difference_lower)::integer
            || ' points) raises no alarm, which takes ' || round(100 * limit_value * standard_error)::integer
            || ' points; what changed up to ' || reference_end || ' raises none.'
    end
{%- endmacro %}

{# The topic that got worse most; of several topics one looks so by chance. #}
{% macro worst_topic() -%}
    'The topic that got worse most is ' || segment || ': '
    || case
        when metric_name = 'verdict' then 'the share that fails rose by '
        when is_of_versions then 'the share that fails ' || metric_name || ' rose by '
        else 'the mean ' || metric_name || ' fell by '
    end
    || round(-100 * difference)::integer || ' points (' || round(-100 * difference_upper)::integer || ' to '
    || round(-100 * difference_lower)::integer || ', ' || count_compared
    || if(is_of_versions, ' questions of both versions', ' answers since ' || window_start) || ')'
    || case
        when is_shown then ''
        else '; one of several topics may do so by chance'
            || case
                when is_of_versions then ''
                when is_deciding
                    then ', and an alarm takes ' || round(100 * difference_of_alarm)::integer || ' points'
                else ', and a score that is not admitted raises no alarm'
            end
    end
    || coalesce('. About ' || case when not is_shown then count_needed end || ' questions would show it', '') || '.'
{%- endmacro %}
