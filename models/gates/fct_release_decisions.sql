-- May the candidate go live, or stay live? One row per application: five sentences that pages, alerts and BI print.
{%- set is_apart = '(count(own.gate_name) over (partition by gates.gate_name) > 0)' %}
{%- set verdict = "coalesce(own.verdict, if(" ~ is_apart ~ ", 'not_evaluated', gates.verdict))" %}
{%- set least_labels = var('hcat_minimum_segment_clusters') %}
{%- set order = {'warn': "gates.severity = 'warn'", 'gate': 'gates.gate_name'} %}
-- what was measured for one application of several
with own_gates as (
    select
        measurements.application, measurements.seed_gate_name as gate_name, validated.verdict, validated.reason,
        validated.is_passing
    from {{ ref('hcat', 'int_gate_measurements') }} as measurements
    inner join {{ ref('hcat', 'int_gates_validated') }} as validated on measurements.gate_name = validated.gate_name
    where measurements.application is not null
),

applications as (
    select
        {{ named('application') }} as application,
        max(case when version_role = 'candidate' then {{ named('application_version') }} end) as candidate,
        max(case when version_role = 'candidate' then system end) as system,
        max(case when version_role = 'baseline' then {{ named('application_version') }} end) as baseline,
        max(case when is_in_release_population then population end) as release_population,
        max(case when is_in_monitored_population then population end) as monitored_population,
        count(*) over () as count_applications,
        -- answers that name no version beside versions with names, and versions without a time
        count(case when application_version is null and version_role = 'other' then 1 end) as count_unnamed,
        count(distinct case when population <> 'variant' then application_version end) as count_versions,
        count(distinct case when population <> 'variant' and asked_at is not null then application_version end)
            as count_dated
    from {{ ref('hcat', 'fct_interactions') }}
    group by {{ named('application') }}
),

-- the release population, the whole of production beside a test set, and production since a change and before it
rates as (
    select
        applications.application, measured.*, {{ rate_in_words('measured') }} as words,
        case
            when measured.dimension = 'all' and measured.population = applications.release_population then 'released'
            when measured.dimension = 'all' and measured.population = 'production' then 'asked'
            when measured.dimension = 'period' and applications.count_applications = 1
                then split_part(measured.segment, ' ', 1)
        end as place
    from applications
    inner join {{ ref('hcat', 'fct_failure_rates') }} as measured on applications.system = measured.system
    where measured.criterion = 'verdict'
),

-- a gate that measures candidates says of each application what it measured there
gates as (
    select
        applications.application, gates.gate_name, gates.severity,
        {{ verdict }} as verdict,
        coalesce(
            own.reason, if({{ is_apart }}, gates.gate_name || ' was not measured for the application.', gates.reason)
        ) as reason,
        gates.severity = 'error'
        -- a failed gate of these says that answers are wrong or do harm; others ask for a condition
        or gates.measurement in (
            'share_failing', 'worst_segment_failing', 'version_difference', 'share_passing', 'mean_score',
            'count_leaked_values', 'count_canary_leaks'
        )
        -- unmeasured (nothing to decline, no language that is read) these are a condition
        or ({{ verdict }} = 'failed' and gates.measurement in ('share_toxic_answers', 'answered_when_due_to_refuse'))
            as is_stopping,
        coalesce(own.is_passing, not {{ is_apart }} and gates.is_passing) as is_passing,
        gates.measurement = 'share_failing' as is_asked
    from applications
    cross join {{ ref('hcat', 'fct_threshold_gates') }} as gates
    -- what is decided on a day is decided of all applications together
    left join own_gates as own
        on gates.gate_name = own.gate_name and applications.application = own.application and gates.decide_on is null
    where
        gates.build_number = (select max(newest.build_number) from {{ ref('hcat', 'fct_threshold_gates') }} as newest)
        -- a build without gates leaves those of an earlier one the newest
        and gates.gate_name in (select in_force.gate_name from {{ ref('hcat', 'int_gates_in_force') }} as in_force)
),

weighed as (
    select
        applications.application as weighed_application,
        count(gates.gate_name) as count_gates,
        count(case when not gates.is_passing then 1 end) as count_not_passing,
        count(case when gates.is_asked then 1 end) as count_asked,
        {%- for kind, failed in {'stopping': '=', 'open': '<>'}.items() %}
        min_by(gates.reason, {{ record(dict({'other': 'not gates.is_asked'}, **order)) }})
        filter (where gates.is_stopping and not gates.is_passing and gates.verdict {{ failed }} 'failed')
            as {{ kind }}_reason,
        {%- endfor %}
        min_by(gates.reason, {{ record(order) }})
        filter (where not gates.is_stopping and not gates.is_passing) as condition_reason
    from applications
    left join gates on applications.application = gates.application
    group by applications.application
),

counted as (
    select
        {{ named('application') }} as application, failed_criterion,
        count(failed_criterion) as count_failing, count(relevant) as count_relevant, count(complete) as count_complete,
        count(case when safe is null and verdict_rule <> 'no_answer' then 1 end) as count_unread,
        count(reading_rank) as count_to_read,
        count(case when verdict_rule = 'refused_unasked' then 1 end) as count_declined
    from {{ ref('hcat', 'fct_verdicts') }}
    where is_in_release_population
    group by {{ named('application') }}, failed_criterion
),

-- the kinds of fault of the release population, the most frequent first
faults as (
    select
        {%- for counted in ['failing', 'relevant', 'complete', 'unread', 'to_read', 'declined'] %}
        sum(count_{{ counted }}) over (partition by application) as count_all_{{ counted }},
        {%- endfor %}
        *
    from counted
    qualify row_number() over (partition by application order by count_failing desc, failed_criterion asc) = 1
),

compared as (
    select
        application, candidate_version, metric_name, dimension, segment, verdict = 'worse' as is_shown, difference,
        difference_lower, difference_upper, count_pairs, target_difference, queries_needed
    from {{ ref_if_on(
        'versions', 'fct_version_comparisons',
        'application, candidate_version, metric_name, dimension, segment, measurement, verdict, is_latest boolean,'
        ~ ' difference double, difference_lower double, difference_upper double, count_pairs bigint,'
        ~ ' target_difference double, queries_needed bigint'
    ) }}
    where is_latest and measurement = 'share_failing_of_all' and metric_name in ('verdict', 'groundedness')
),

-- the weeks of the verdict, and of a score that is shown; a series is of all applications together
drift as (
    select applications.application, applications.monitored_population, measured.*, metrics.is_deciding
    from applications
    cross join {{ ref_if_on(
        'drift', 'fct_metric_drift',
        'metric_name, dimension, segment, status, window_weeks bigint, window_start date, reference_end date,'
        ~ ' is_drifting boolean, count_reference bigint, count_window bigint, value_reference double,'
        ~ ' value_window double, limit_value double, standard_error double, difference double, difference_lower double,'
        ~ ' difference_upper double'
    ) }} as measured
    inner join {{ ref('hcat', 'dim_metrics') }} as metrics on measured.metric_name = metrics.metric_name
    where measured.metric_name in ('verdict', 'groundedness') and applications.count_applications = 1
),

-- topics that fail more than in the version before, or than in the weeks before
worse as (
    select
        application, segment, metric_name, is_shown, true as is_of_versions,
        difference, difference_lower, difference_upper, count_pairs as count_compared, null::date as window_start,
        -- as many show the target difference, and fewer a larger one
        try_cast(
            ceil(queries_needed * target_difference * target_difference / difference / difference) as bigint
        ) as count_needed,
        null::boolean as is_deciding, null::double as difference_of_alarm
    from compared
    -- less than half a point is none
    where dimension = 'topic' and round(100 * difference) < 0
    union all
    select
        application, segment, metric_name, is_drifting as is_shown, false as is_of_versions,
        difference, difference_lower, difference_upper, count_window as count_compared, window_start,
        null as count_needed, is_deciding, limit_value * standard_error as difference_of_alarm
    from drift
    where dimension = 'topic' and difference_upper < 0
),

-- the longest window, where no alarm says it
weeks as (
    select application, {{ weeks_compared() }} as compared_words
    from drift
    where metric_name = 'verdict' and dimension = 'all'
    qualify row_number() over (partition by application order by window_weeks desc) = 1
),

-- of several topics one looks worst by chance
topics as (
    select application, {{ worst_topic() }} as worst_topic
    from worse
    where difference_lower is not null
    qualify row_number() over (
            partition by application
            order by
                is_shown desc, is_of_versions desc, metric_name <> 'verdict' asc, difference asc, segment asc,
                window_start asc
        ) = 1
),

joined as (
    select
        applications.*, weighed.*, released.failure_rate, released.failure_rate_lower, released.failure_rate_upper,
        {%- for counted in ['count_labels', 'count_labels_by_people', 'count_labels_by_language_models'] %}
        coalesce(released.{{ counted }}, 0) as {{ counted }}, asked.{{ counted }} as {{ counted }}_asked,
        {%- endfor %}
        released.count_interactions, released.count_judged, released.words as released_words,
        asked.words as asked_words, since.words as since_words, before.words as before_words,
        replace(since.segment, 'since ', '') as changed_on, since.failure_rate as failure_rate_since_change,
        faults.failed_criterion, faults.count_failing, faults.count_all_failing,
        {%- for counted in ['relevant', 'complete', 'unread', 'to_read'] %}
        coalesce(faults.count_all_{{ counted }}, 0) as count_{{ counted }},
        {%- endfor %}
        faults.count_all_declined, versions.difference, weeks.compared_words,
        versions.difference_lower, versions.difference_upper, versions.count_pairs, topics.worst_topic
    from applications
    inner join weighed on applications.application = weighed.weighed_application
    {%- for place in ['released', 'asked', 'since', 'before'] %}
    left join rates as {{ place }}
        on applications.application = {{ place }}.application and {{ place }}.place = '{{ place }}'
    {%- endfor %}
    left join faults on applications.application = faults.application
    left join topics on applications.application = topics.application
    left join weeks on applications.application = weeks.application
    left join compared as versions
        on
            applications.application = versions.application and applications.candidate = versions.candidate_version
            and versions.metric_name = 'verdict' and versions.dimension = 'all'
),

decided as (
    select
        *,
        case
            when stopping_reason is not null then 'do_not_release'
            when count_asked = 0 or open_reason is not null or failure_rate is null then 'not_decided'
            -- scores that too few labels were held against release nothing without a word
            when count_not_passing > 0 or count_labels_by_people + count_labels_by_language_models < {{ least_labels }}
                then 'go_with_conditions'
            else 'go'
        end as decision
    from joined
),

final as (
    select
        md5(application) as release_decision_id,
        application, candidate, baseline, system, release_population, decision,
        {{ release_headline() }} as headline,
        {{ release_reason() }} as reason,
        {{ how_often_answers_fail() }} as how_often,
        {{ what_changed() }} as what_changed,
        worst_topic, {{ what_to_do_next() }} as what_next,
        failure_rate, failure_rate_lower, failure_rate_upper, failure_rate_since_change, count_interactions,
        count_labels_by_people, count_labels_by_language_models, count_gates,
        count_not_passing as count_gates_not_passing
    from decided
)

select * from final
