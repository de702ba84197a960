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

{# Who asked the questions of a population. #}
{% macro asked_by(population) -%}
    if({{ population }} = 'test_set', 'the test set', 'users')
{%- endmacro %}

{# Why there is no rate. #}
{% macro no_rate() -%}
    coalesce(
        'Too few answers have a verdict to state a rate: ' || nullif(count_judged, 0) || ' of ' || count_interactions || '.',
        'No answer of the candidate has a verdict.'
    )
{%- endmacro %}

{# The sentence of the gate that decides. #}
{% macro release_reason() -%}
    case decision
        when 'do_not_release' then stopping_reason
        when 'not_decided'
            then case
                when count_asked = 0 then 'No gate asks how many answers fail.'
                else coalesce(open_reason, {{ no_rate() }})
            end
        when 'go_with_conditions'
            then coalesce(
                condition_reason,
                case
                    when count_labels = 0 then 'Nobody rated an answer'
                    when count_labels_by_people + count_labels_by_language_models = 0 then 'No known rater'
                    else 'Known raters rated fewer than {{ var("hcat_minimum_segment_clusters") }} answers'
                end || ': scores decide.'
            )
        else 'All ' || count_gates || ' gates pass' || if(count_complete > 0, '.', '; completeness was not judged.')
    end
{%- endmacro %}

{# How many labels each kind of rater gave. #}
{% macro who_rated(of='', answers='') -%}
    'eople rated ' || if(count_labels_by_people{{ of }} = 0, 'none', count_labels_by_people{{ of }}::string) || '{{ answers }}'
    || coalesce(', a language model ' || nullif(count_labels_by_language_models{{ of }}, 0), '') || coalesce(
        ', raters of unknown kind '
        || nullif(count_labels{{ of }} - count_labels_by_people{{ of }} - count_labels_by_language_models{{ of }}, 0), ''
    ) || '.'
{%- endmacro %}

{# How many answers fail, how sure that is, who rated, and what nobody judged. #}
{% macro how_often_answers_fail() -%}
    coalesce(
        if(count_labels = 0, 'By rules and scores alone, ', '') || released_words || ' of the answers to '
        || {{ asked_by('release_population') }} || ' fail'
        || coalesce(', and ' || asked_words || ' of the answers to users', '') || '. ',
        {{ no_rate() }} || ' '
    )
    || case
        when count_labels = 0 then 'Nobody rated any of them, and no interval holds the errors of the scores.'
        when count_labels_by_people + count_labels_by_language_models = 0
            then 'Raters who are not known to be people rated ' || count_labels || ': name them in the seed raters.'
        else 'P' || {{ who_rated(answers=' of them') }}
    end || coalesce(' Of the answers to users, p' || {{ who_rated('_asked') }}, '')
    {%- set unseen = {
        'relevant': ('Relevance', 'an answer beside the question can pass'),
        'complete': ('Completeness', 'an answer that leaves out half can pass')
    } %}
    {%- for criterion, (name, risk) in unseen.items() %}
    || case
        when count_{{ criterion }} = 0 then ' {{ name }} was not judged: {{ risk }}.'
        when count_{{ criterion }} < count_interactions
            then ' {{ name }} was judged for ' || count_{{ criterion }} || ' of ' || count_interactions
                || ' answers.'
        else ''
    end
    {%- endfor %}
    {%- set harms = {'privacy': 'leaked personal data', 'safety': 'toxic answers'} %}
    {%- for module in harms if not is_on(module) %}
    || ' Nobody looked for {{ harms[module] }}: the module {{ module }} is off.'
    {%- else %}
    || coalesce(' Nobody looked for harm in ' || nullif(count_unread, 0) || ' of them.', '')
    {%- endfor %}
    || coalesce(' Answers without a version, which are not judged here: ' || nullif(count_unnamed, 0) || '.', '')
    || if(count_dated > 0 and count_dated < count_versions, ' Some versions have no times, so names decide which is newest.', '')
    || coalesce(
        ' Answers that decline, where nobody said whether they should: ' || nullif(count_all_declined, 0) || '.', ''
    )
{%- endmacro %}

{# Since when users get worse answers, else how the versions compare over the same queries, else the weeks. #}
{% macro what_changed() -%}
    case
        when changed_on is not null
            then 'Since ' || changed_on || ', ' || coalesce(
                since_words || ' of the answers to ' || {{ asked_by('monitored_population') }} || ' fail',
                'too few answers of the candidate have a verdict to state a rate'
            ) || coalesce('; before, ' || before_words, '') || '.'
        when count_pairs > 0 and difference_lower is null
            then 'Too few queries have a verdict in both versions to compare them: ' || count_pairs || '.'
        when count_pairs > 0
            then 'Over ' || count_pairs || ' queries of ' || {{ asked_by('release_population') }}
            || ' asked of both versions, the share that fails '
            || case
                when difference_lower > 0 then 'is lower than before'
                when difference_upper < 0 then 'is higher than before'
                else 'is not shown to differ'
            end
            || ' (' || round(-100 * difference_upper)::integer || ' to ' || round(-100 * difference_lower)::integer
            || ' points).'
        when baseline is null then coalesce(compared_words, 'There is no earlier version to compare with.')
        else 'No query of ' || {{ asked_by('release_population') }} || ' has a verdict in both versions.'
    end
{%- endmacro %}

{# The most frequent kind of fault, and what to read and rate. #}
{% macro what_to_do_next() -%}
    trim(case
        when failed_criterion is not null
            then 'Of ' || count_all_failing || ' failing answers, ' || count_failing || ' are not '
            || case failed_criterion
                when 'behaves' then 'what was due (an answer, or a refusal)'
                when 'grounded' then 'grounded: the retrieved texts do not support them'
                else failed_criterion
            end
            || '. '
        else ''
    end
    || case count_to_read
        when 0 then ''
        when 1 then 'Read the answer that looks most wrong first. '
        else 'Read the ' || count_to_read || ' answers that look most wrong first. '
    end
    || case
        when count_labels_by_people = 0 then 'Let a person rate 60 answers (`hcat labels desk`).'
        when decision = 'not_decided' then 'Let people rate 60 more.'
        else ''
    end)
{%- endmacro %}

{# Weeks of production in which no alarm was raised, and which difference raises one. #}
{% macro weeks_compared() -%}
    case
        when status <> 'tested'
            then 'Whether answers to ' || {{ asked_by('monitored_population') }}
            || ' got worse over the weeks was not tested (' || replace(status, '_', ' ') || '): ' || count_window
            || ' judged in the latest weeks, and ' || count_reference || ' before.'
        else 'Since ' || window_start || ', ' || {{ in_percent('1 - value_window') }} || ' % of '
            || count_window || ' judged answers to ' || {{ asked_by('monitored_population') }} || ' fail; before, '
            || {{ in_percent('1 - value_reference') }} || ' % of ' || count_reference || '. The difference ('
            || round(-100 * difference_upper)::integer || ' to ' || round(-100 * difference_lower)::integer
            || ' points) raises ' || if(is_drifting, 'an alarm, which takes ', 'no alarm, because an alarm takes ')
            || round(100 * limit_value * standard_error)::integer || ' points. What changed up to ' || reference_end
            || ' is part of the reference.'
    end
{%- endmacro %}

{# The topic that got worse most; of several topics one looks so by chance. #}
{% macro worst_topic() -%}
    'Topic ' || segment || ' got worse most: '
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
