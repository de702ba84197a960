-- May the candidate go live, or stay live? One row per application: five sentences that pages, alerts and BI print.
{#- a failed gate of these measurements says that answers are wrong or do harm; others ask for a condition -#}
{%- set stopping = [
    'share_failing', 'worst_segment_failing', 'version_difference', 'share_passing', 'mean_score',
    'count_leaked_values', 'count_canary_leaks'
] %}
{#- so do these; unmeasured (no question to decline, no language that is read) they are conditions -#}
{%- set harmful = ['share_toxic_answers', 'answered_when_due_to_refuse'] %}

with rates as (
    select * from {{ ref('hcat', 'fct_failure_rates') }}
    where criterion = 'verdict'
),

-- what was measured for one application of several
own_gates as (
    select
        measurements.application, measurements.seed_gate_name as gate_name, validated.verdict, validated.reason,
        validated.is_passing
    from {{ ref('hcat', 'int_gate_measurements') }} as measurements
    inner join {{ ref('hcat', 'int_gates_validated') }} as validated on measurements.gate_name = validated.gate_name
    where measurements.application is not null
),

measured_apart as (
    select distinct gate_name from own_gates
),

applications as (
    select
        {{ named('application') }} as application,
        max(case when version_role = 'candidate' then {{ named('application_version') }} end) as candidate,
        max(case when version_role = 'candidate' then system end) as system,
        max(case when version_role = 'baseline' then {{ named('application_version') }} end) as baseline,
        max(case when is_in_release_population then population end) as release_population
    from {{ ref('hcat', 'fct_interactions') }}
    group by {{ named('application') }}
),

-- a gate that measures candidates says of each application what it measured there
gates as (
    select
        applications.application, gates.gate_name, gates.severity,
        gates.severity = 'error'
        or gates.measurement in (
            '{{ stopping | join("', '") }}'
        )
        or (
            gates.verdict = 'failed' and gates.measurement in (
                '{{ harmful | join("', '") }}'
            )
        ) as is_stopping,
        gates.measurement = 'share_failing' as is_asked,
        case when measured_apart.gate_name is null then gates.verdict else coalesce(own.verdict, 'not_evaluated') end
            as verdict,
        case
            when measured_apart.gate_name is null then gates.reason
            else coalesce(own.reason, gates.gate_name || ' was not measured for this application')
        end as reason,
        case when measured_apart.gate_name is null then gates.is_passing else coalesce(own.is_passing, false) end
            as is_passing
    from applications
    cross join {{ ref('hcat', 'fct_threshold_gates') }} as gates
    -- what is decided on a day is decided of all applications together
    left join measured_apart on gates.gate_name = measured_apart.gate_name and gates.decide_on is null
    left join own_gates as own on gates.gate_name = own.gate_name and applications.application = own.application
    where gates.run_id = '{{ invocation_id }}'
),

weighed as (
    select
        application as weighed_application,
        count(*) as count_gates,
        count(case when is_stopping and verdict = 'failed' then 1 end) as count_stopping,
        count(case when not is_passing and is_stopping and verdict <> 'failed' then 1 end) as count_open,
        count(case when not is_passing then 1 end) as count_not_passing,
        count(case when is_asked then 1 end) as count_asked,
        min_by(
            reason, {{ record({'other': 'not is_asked', 'warn': "severity = 'warn'", 'gate': 'gate_name'}) }}
        ) filter (where is_stopping and verdict = 'failed') as stopping_reason,
        min_by(
            reason, {{ record({'other': 'not is_asked', 'warn': "severity = 'warn'", 'gate': 'gate_name'}) }}
        ) filter (where is_stopping and not is_passing and verdict <> 'failed') as open_reason,
        min_by(reason, {{ record({'warn': "severity = 'warn'", 'gate': 'gate_name'}) }})
        filter (where not is_stopping and not is_passing) as condition_reason
    from gates
    group by application
),

-- the kinds of fault of the release population, the most frequent first
counted as (
    select {{ named('application') }} as application, failed_criterion, count(*) as count_failing
    from {{ ref('hcat', 'fct_verdicts') }}
    where is_in_release_population and verdict = 'failing'
    group by {{ named('application') }}, failed_criterion
),

faults as (
    select *, sum(count_failing) over (partition by application) as count_all_failing
    from counted
    qualify row_number() over (partition by application order by count_failing desc, failed_criterion asc) = 1
),

versions as (
    select application, candidate_version, difference, difference_lower, difference_upper, count_pairs
    from {{ ref_if_on(
        'versions', 'fct_version_comparisons',
        'application string, candidate_version string, metric_name string, dimension string, measurement string,'
        ~ ' is_latest boolean, difference double, difference_lower double, difference_upper double, count_pairs bigint'
    ) }}
    where
        is_latest
        and metric_name = 'verdict'
        and dimension = 'all'
        and measurement = 'share_failing_of_all'
),

joined as (
    select
        applications.*, weighed.*, released.failure_rate, released.failure_rate_lower,
        released.failure_rate_upper, released.count_interactions,
        coalesce(released.count_labels_by_people, 0) + coalesce(asked.count_labels_by_people, 0)
            as count_labels_by_people,
        coalesce(released.count_labels_by_language_models, 0) + coalesce(asked.count_labels_by_language_models, 0)
            as count_labels_by_language_models,
        coalesce(released.count_labels, 0) + coalesce(asked.count_labels, 0) as count_labels,
        {{ rate_in_words('released') }} as released_words,
        {{ rate_in_words('asked') }} as asked_words,
        {{ rate_in_words('since') }} as since_words,
        {{ rate_in_words('before') }} as before_words,
        replace(since.segment, 'since ', '') as changed_on,
        since.failure_rate as failure_rate_since_change,
        faults.failed_criterion, faults.count_failing, faults.count_all_failing, versions.difference,
        versions.difference_lower, versions.difference_upper, versions.count_pairs
    from applications
    inner join weighed on applications.application = weighed.weighed_application
    left join rates as released
        on
            applications.system = released.system
            and applications.release_population = released.population
            and released.dimension = 'all'
    -- the whole of production stands beside the test set
    left join rates as asked
        on
            applications.system = asked.system
            and asked.population = 'production'
            and applications.release_population <> 'production'
            and asked.dimension = 'all'
    left join rates as since
        on applications.system = since.system and since.dimension = 'period' and since.segment like 'since %'
    left join rates as before
        on applications.system = before.system and before.dimension = 'period' and before.segment like 'before %'
    left join faults on applications.application = faults.application
    left join versions
        on applications.application = versions.application and applications.candidate = versions.candidate_version
),

decided as (
    select
        *,
        case
            when count_stopping > 0 then 'do_not_release'
            when count_asked = 0 or count_open > 0 or failure_rate is null then 'not_decided'
            -- scores that nobody held against a label release nothing without a word
            when count_not_passing > 0 or count_labels_by_people + count_labels_by_language_models = 0
                then 'go_with_conditions'
            else 'go'
        end as decision
    from joined
),

final as (
    select
        -- ids
        md5(application) as release_decision_id,

        -- strings
        application, candidate, baseline, system, release_population, decision,
        if(application = 'unnamed', 'The assistant', application)
        || if(candidate = 'unnamed', '', ', candidate ' || candidate) || coalesce(' against ' || baseline, '') || ': '
        || replace(decision, '_', ' ') || '.' as headline,
        regexp_replace(
            case decision
                when 'do_not_release' then stopping_reason
                when 'not_decided'
                    then case
                        when count_asked = 0 then 'No gate asks how many answers fail'
                        else coalesce(open_reason, 'No answer of the candidate has a verdict')
                    end
                when 'go_with_conditions' then coalesce(condition_reason, 'No known rater: scores decide')
                else 'All ' || count_gates || ' gates pass'
            end,
            ': failed$', ''
        ) || '.' as reason,
        coalesce(
            if(count_labels = 0, 'By rules and scores alone, ', '') || released_words || ' of the answers to '
            || if(release_population = 'test_set', 'the test set', 'customers') || ' fail'
            || coalesce(', and ' || asked_words || ' of the answers to customers', '') || '. ',
            'No answer of the candidate has a verdict. '
        )
        || case
            when count_labels = 0 then 'Nobody rated any of them, so the interval leaves out the errors of the scores.'
            when count_labels_by_people + count_labels_by_language_models = 0
                then 'Raters who are not known to be people rated ' || count_labels || ': name them in the seed raters.'
            when count_labels_by_people = 0
                then 'No person rated any of them: a language model rated ' || count_labels_by_language_models || '.'
            else 'People rated ' || count_labels_by_people || ' of them'
                || if(
                    count_labels_by_language_models > 0,
                    ', and a language model rated ' || count_labels_by_language_models, ''
                ) || '.'
        end as how_often,
        case
            when changed_on is not null
                then 'Since ' || changed_on || ', ' || since_words || ' of the answers to customers fail'
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
            when baseline is null then 'There is no earlier version to compare with.'
            else 'No query has a verdict in both versions.'
        end as what_changed,
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
        end as what_next,

        -- numerics
        failure_rate, failure_rate_lower, failure_rate_upper, failure_rate_since_change, count_interactions,
        count_labels_by_people, count_labels_by_language_models, count_gates,
        count_not_passing as count_gates_not_passing
    from decided
)

select * from final
