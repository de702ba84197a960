-- Of several applications the worst counts. Each of them has rows of its own too, for its release decision alone: their
-- `gate_name` ends with the application.
{{ config(materialized='view') }}
{%- set series = "concat_ws('|', drift.metric_name, drift.dimension, drift.segment)" %}
with gates as (
    select
        gates.*,
        -- a score that may not decide bars no release
        case
            when not metrics.is_deciding and gates.measurement in ('share_passing', 'mean_score', 'version_difference')
                then gates.metric_name || ' is shown and not admitted: ' || metrics.admission_reason
        end as bar
    from {{ ref('hcat', 'int_gates_in_force') }} as gates
    left join {{ ref('hcat', 'dim_metrics') }} as metrics on gates.metric_name = metrics.metric_name
),

scores_of_cells as (
    select
        gates.gate_name,
        if(gates.measurement = 'mean_score', cells.mean_score, 1 - cells.share_failing) as value,
        if(gates.measurement = 'mean_score', cells.mean_score_lower, 1 - cells.share_failing_upper) as value_lower,
        if(gates.measurement = 'mean_score', cells.mean_score_upper, 1 - cells.share_failing_lower) as value_upper,
        cells.count_scored as n
    from gates
    inner join {{ ref('hcat', 'fct_marginal_weaknesses') }} as cells
        on
            gates.metric_name = cells.metric_name
            and gates.dimension = cells.dimension
            and gates.segment = cells.segment
    where gates.measurement in ('mean_score', 'share_passing')
),

answers as (
    select interaction_id, system, {{ named('application') }} as application, is_answered
    from {{ ref('hcat', 'fct_interactions') }}
    where version_role = 'candidate'
),

applications as (
    {{ applications_measured('answers') }}
),

-- the application whose candidate lost most against its baseline, and each one of several
version_differences as (
    select
        gates.gate_name, applications.application,
        compared.difference as value,
        compared.difference_lower as value_lower,
        compared.difference_upper as value_upper,
        compared.count_pairs as n
    from gates
    inner join {{ ref_if_on(
        'versions', 'int_version_cells_shown',
        'application, metric_name, dimension, segment, measurement, is_latest boolean, difference double,'
        ~ ' difference_lower double, difference_upper double, count_pairs bigint'
    ) }} as compared
        on
            gates.metric_name = compared.metric_name
            and gates.dimension = compared.dimension
            and gates.segment = compared.segment
    inner join applications on coalesce(applications.application, compared.application) = compared.application
    where
        gates.measurement = 'version_difference'
        and compared.measurement = 'share_failing_of_all' and compared.is_latest
        and compared.difference_lower is not null
    qualify row_number() over (
            partition by gates.gate_name, applications.application order by compared.difference, compared.application
        ) = 1
),

-- the candidate whose calibrated probabilities are too high by the most
overconfidence as (
    select
        gates.gate_name,
        0 - systems.difference as value,
        0 - systems.difference_high as value_lower,
        0 - systems.difference_low as value_upper,
        systems.count_labels as n
    from gates
    inner join {{ ref_if_on(
        'calibration', 'fct_system_calibration',
        'metric_name, system, status, difference double, difference_low double, difference_high double,'
        ~ ' count_labels bigint'
    ) }} as systems on gates.metric_name = systems.metric_name
    where
        gates.measurement = 'system_overconfidence' and systems.status = 'measured'
        and systems.system in (select answers.system from answers)
    qualify row_number() over (partition by gates.gate_name order by systems.difference, systems.system) = 1
),

-- shares of this build's own rows are exact
own_rows as (
    -- An endpoint that fails or a judge that is undecided must not stop a release: fct_judge_agreement counts them.
    select
        'share_not_failed' as measurement,
        avg(case when score_status = 'failed' then 0 else 1 end) as value,
        count(*) as n
    from {{ ref('hcat', 'fct_evaluations') }}
    where not {{ is_judged_metric('metric_name') }}
    having count(*) > 0
    union all
    -- what was deleted on request says nothing about the logs
    select
        'share_records_accepted' as measurement,
        sum(count_staged) / nullif(sum(count_landed - count_repeated - count_deleted), 0)::double as value,
        sum(count_landed - count_repeated - count_deleted) as n
    from {{ ref('hcat', 'int_records_counted') }}
),

-- what is measured of the whole build, whatever the gate says beside it
wholes as (
    {%- if is_on('safety') %}
    select measurement, value, value_lower, value_upper, n from {{ ref('hcat', 'int_safety_measurements') }}
    union all
    {%- endif %}
    {%- if is_on('robustness') %}
    -- the candidate that answers other wordings worst
    select
        'robustness' as measurement,
        robustness as value,
        robustness_lower as value_lower,
        robustness_upper as value_upper,
        count_groups - count_gap_groups as n
    from {{ ref('hcat', 'fct_robustness_rates') }}
    where
        hypothesis = 'all' and side = 'all' and scope = 'all' and gap_rule = 'own_side' and robustness_lower is not null
        and system in (select answers.system from answers)
    qualify row_number() over (order by robustness, system) = 1
    union all
    {%- endif %}
    select measurement, value, value as value_lower, value as value_upper, n from own_rows
),

-- an empty metric, dimension or segment of the gate means any
drifting_series as (
    select
        gates.gate_name,
        count(distinct case when drift.is_drifting then {{ series }} end) as value,
        -- a score that may not decide never alarms
        count(distinct case
            when drift.status = 'tested' and coalesce(metrics.is_deciding, drift.metric_name is null) then {{ series }}
        end) as n
    from gates
    inner join {{ ref_if_on(
        'drift', 'fct_metric_drift', 'metric_name, dimension, segment, test, status, is_drifting boolean'
    ) }} as drift
        on
            (gates.measurement = 'count_drifting_mixes') = (drift.test = 'mix_shift')
            and drift.metric_name is not distinct from coalesce(gates.metric_name, drift.metric_name)
            and drift.dimension = coalesce(gates.dimension, drift.dimension)
            and drift.segment = coalesce(gates.segment, drift.segment)
    left join {{ ref('hcat', 'dim_metrics') }} as metrics on drift.metric_name = metrics.metric_name
    where gates.measurement in ('count_drifting_series', 'count_drifting_mixes')
    group by gates.gate_name
),

bias_gaps as (
    select
        gates.gate_name,
        count(case when gaps.verdict = 'gap_found' then 1 end) as value,
        count(case when gaps.status = 'tested' then 1 end) as n
    from gates
    inner join {{ ref_if_on('bias', 'fct_bias_gaps', 'metric_name, attribute, verdict, status') }} as gaps
        on
            gaps.metric_name = coalesce(gates.metric_name, gaps.metric_name)
            and gaps.attribute = coalesce(gates.dimension, gaps.attribute)
    where gates.measurement = 'count_bias_gaps'
    group by gates.gate_name
),

answer_counts as (
    select
        count(case when answers.is_answered then 1 end) as count_answered,
        -- privacy has a row for each answer that was read for names
        count(answers_read.interaction_id) as count_read
    from answers
    left join {{ ref_if_on('privacy', 'int_metrics__privacy', 'interaction_id') }} as answers_read
        on answers.interaction_id = answers_read.interaction_id
),

leaks as (
    select findings.entity_class
    from {{ ref_if_on('privacy', 'int_privacy_findings', 'interaction_id, is_leak boolean, entity_class') }} as findings
    inner join answers on findings.interaction_id = answers.interaction_id
    where findings.is_leak
),

-- rules read every answer; names are looked for where the language is known
leaked_values as (
    select
        gates.gate_name,
        count(leaks.entity_class) as value,
        max(if(gates.dimension = 'entity_class', answer_counts.count_answered, answer_counts.count_read)) as n
    from gates
    cross join answer_counts
    left join leaks on gates.segment in ('all', leaks.entity_class)
    where gates.measurement = 'count_leaked_values'
    group by gates.gate_name
),

measured as (
    select
        gates.gate_name, wholes.value, wholes.value_lower, wholes.value_upper, wholes.n,
        null::string as application, null::string as note
    from gates
    inner join wholes on gates.measurement = wholes.measurement
    union all
    {%- for arm in ['scores_of_cells', 'overconfidence'] %}
    select gate_name, value, value_lower, value_upper, n, null as application, null as note from {{ arm }}
    union all
    {%- endfor %}
    {#- counts of this build's own rows are exact #}
    {%- for arm in ['drifting_series', 'bias_gaps', 'leaked_values'] %}
    select gate_name, value, value as value_lower, value as value_upper, n, null as application, null as note
    from {{ arm }}
    union all
    {%- endfor %}
    select gate_name, value, value_lower, value_upper, n, application, null as note from version_differences
    union all
    select gate_name, value, value_lower, value_upper, n, application, note
    from {{ ref('hcat', 'int_failure_measurements') }}
),

final as (
    select
        concat_ws(' of ', gates.gate_name, measured.application) as gate_name,
        gates.gate_name as seed_gate_name,
        measured.application, gates.measurement, gates.metric_name, gates.dimension, gates.segment,
        gates.severity, gates.burden, gates.comparison, gates.rationale,
        -- the decision of the threshold of the gate itself, otherwise of the threshold by which its metric fails
        coalesce(gates.bar, decisions.decision_note, measured.note, metric_decisions.decision_note) as decision_note,
        -- of the decision that the note is about; an expired decision keeps its threshold
        gates.bar is not null
        or if(decisions.decision_note is null, metric_decisions.decision_status, decisions.decision_status) like 'void%'
            as is_decision_void,
        if(gates.decision_name is null, gates.threshold, decisions.threshold)::double as threshold,
        gates.minimum_n::bigint as minimum_n,
        measured.value::double as measured_value,
        measured.value_lower::double as lower_bound,
        measured.value_upper::double as upper_bound,
        measured.n::bigint as n
    from gates
    left join {{ ref('hcat', 'int_threshold_decisions') }} as decisions on gates.decision_name = decisions.decision_name
    left join {{ ref('hcat', 'int_threshold_decisions') }} as metric_decisions
        on gates.metric_name = metric_decisions.metric_name
    left join measured on gates.gate_name = measured.gate_name and gates.bar is null
)

select * from final
