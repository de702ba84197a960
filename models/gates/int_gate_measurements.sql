-- Of several applications the worst counts, and what must not occur adds up. Each of them has rows of its own too, for
-- its release decision alone: their `gate_name` ends with the application. All share what is measured of the build
-- (evaluations, records), of a classifier or a threshold, of the weeks, and of a segment of scores.
{{ config(materialized='view') }}
{%- set shared = ['evaluations_not_failed', 'records_accepted', 'drifting_series'] %}
{%- set records_due = '(records.count_landed - records.count_repeated - records.count_deleted)' %}
{%- set series = "concat_ws('|', drift.metric_name, drift.dimension, drift.segment)" %}
with gates as (
    select * from {{ ref('hcat', 'int_gates_in_force') }}
),

systems as (
    {{ systems_measured() }}
),

-- the cell of a system is the whole of it
scores_of_cells as (
    select
        gates.gate_name, systems.application,
        if(gates.measurement = 'mean_score', cells.mean_score, 1 - cells.share_failing) as value,
        if(gates.measurement = 'mean_score', cells.mean_score_lower, 1 - cells.share_failing_upper) as value_lower,
        if(gates.measurement = 'mean_score', cells.mean_score_upper, 1 - cells.share_failing_lower) as value_upper,
        cells.count_scored as n
    from gates
    inner join systems on systems.application is null or gates.dimension = 'all'
    inner join {{ ref('hcat', 'fct_marginal_weaknesses') }} as cells
        on
            gates.metric_name = cells.metric_name
            and if(systems.is_of_several and gates.dimension = 'all', 'system', gates.dimension) = cells.dimension
            and if(systems.is_of_several and gates.dimension = 'all', systems.system, gates.segment) = cells.segment
    where gates.measurement in ('mean_score', 'share_passing')
),

-- a candidate without a comparison has a row without a value
version_differences as (
    select
        gates.gate_name, systems.application, compared.difference as value, compared.difference_lower as value_lower,
        compared.difference_upper as value_upper, compared.count_pairs as n
    from gates
    cross join systems
    left join {{ ref_if_on(
        'versions', 'int_version_cells_shown',
        'application, metric_name, dimension, segment, measurement, is_latest boolean, difference double,'
        ~ ' difference_lower double, difference_upper double, count_pairs bigint'
    ) }} as compared
        on
            gates.metric_name = compared.metric_name
            and gates.dimension = compared.dimension
            and gates.segment = compared.segment
            and systems.candidate_application = compared.application
            and compared.is_latest and compared.measurement = 'share_failing_of_all'
            and compared.difference_lower is not null
    where gates.measurement = 'version_difference'
),

-- by how much calibrated probabilities of a candidate are too high
overconfidence as (
    select
        gates.gate_name, systems.application, 0 - calibrated.difference as value,
        0 - calibrated.difference_high as value_lower, 0 - calibrated.difference_low as value_upper,
        calibrated.count_labels as n
    from gates
    inner join {{ ref_if_on(
        'calibration', 'fct_system_calibration',
        'metric_name, system, status, difference double, difference_low double, difference_high double,'
        ~ ' count_labels bigint'
    ) }} as calibrated on gates.metric_name = calibrated.metric_name
    inner join systems on calibrated.system = systems.system
    where gates.measurement = 'system_overconfidence' and calibrated.status = 'measured'
),

robustness as (
    select
        gates.gate_name, systems.application, rates.robustness as value, rates.robustness_lower as value_lower,
        rates.robustness_upper as value_upper, rates.count_groups - rates.count_gap_groups as n
    from gates
    cross join {{ ref_if_on(
        'robustness', 'fct_robustness_rates',
        'system, hypothesis, side, scope, gap_rule, robustness double, robustness_lower double,'
        ~ ' robustness_upper double, count_groups bigint, count_gap_groups bigint'
    ) }} as rates
    inner join systems on rates.system = systems.system
    where
        gates.measurement = 'robustness' and rates.hypothesis = 'all' and rates.side = 'all' and rates.scope = 'all'
        and rates.gap_rule = 'own_side' and rates.robustness_lower is not null
),

safety as (
    select gates.gate_name, measured.application, measured.value, measured.value_lower, measured.value_upper, measured.n
    from gates
    inner join {{ ref_if_on(
        'safety', 'int_safety_measurements',
        'measurement, application, value double, value_lower double, value_upper double, n bigint'
    ) }} as measured on gates.measurement = measured.measurement
),

-- An endpoint that fails or a judge that is undecided must not stop a release: fct_judge_agreement counts them.
evaluations_not_failed as (
    select
        gates.gate_name, avg(case when evaluations.score_status = 'failed' then 0 else 1 end) as value, count(*) as n
    from gates
    cross join {{ ref('hcat', 'fct_evaluations') }} as evaluations
    where gates.measurement = 'share_not_failed' and not {{ is_judged_metric('evaluations.metric_name') }}
    group by gates.gate_name
),

-- the entity that lost most, and the largest of several; what was deleted on request says nothing about the logs
records_accepted as (
    select
        gates.gate_name, records.count_staged / {{ records_due }}::double as value, {{ records_due }} as n
    from gates
    cross join {{ ref('hcat', 'int_records_counted') }} as records
    where gates.measurement = 'share_records_accepted' and {{ records_due }} > 0
    qualify row_number() over (partition by gates.gate_name order by value asc, n desc, records.entity asc) = 1
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
        gates.gate_name, systems.application,
        count(case when gaps.verdict = 'gap_found' then 1 end) as value,
        count(case when gaps.status = 'tested' then 1 end) as n
    from gates
    inner join {{ ref_if_on('bias', 'fct_bias_gaps', 'system, metric_name, attribute, verdict, status') }} as gaps
        on
            gaps.metric_name = coalesce(gates.metric_name, gaps.metric_name)
            and gaps.attribute = coalesce(gates.dimension, gaps.attribute)
    inner join systems on gaps.system = systems.system
    where gates.measurement = 'count_bias_gaps'
    group by gates.gate_name, systems.application
),

-- of all answers of a candidate, whoever asked; rules read every one, names are looked for where the language is known;
-- the class of a value is no condition of the join, which would compare all pairs of rows
leaked_values as (
    select
        gates.gate_name, systems.application,
        count(case when leaks.is_leak and gates.segment in ('all', leaks.entity_class) then 1 end) as value,
        -- privacy has a row for each answer that was read for names
        count(distinct case
            when gates.dimension is distinct from 'entity_class' then answers_read.interaction_id
            when interactions.is_answered then interactions.interaction_id
        end) as n
    from gates
    cross join {{ ref('hcat', 'fct_interactions') }} as interactions
    inner join systems on interactions.system = systems.system
    left join {{ ref_if_on('privacy', 'int_metrics__privacy', 'interaction_id') }} as answers_read
        on interactions.interaction_id = answers_read.interaction_id
    left join {{ ref_if_on(
        'privacy', 'int_privacy_findings', 'interaction_id, is_leak boolean, entity_class'
    ) }} as leaks
        on interactions.interaction_id = leaks.interaction_id
    where gates.measurement = 'count_leaked_values'
    group by gates.gate_name, systems.application
),

-- counts and shares of this build's own rows are exact
measured as (
    {%- for arm in shared + ['bias_gaps', 'leaked_values'] %}
    select
        gate_name, value, value as value_lower, value as value_upper, n,
        {{ 'null::string as ' if arm in shared }}application
    from {{ arm }}
    union all
    {%- endfor %}
    {%- for arm in ['scores_of_cells', 'overconfidence', 'robustness', 'safety', 'version_differences'] %}
    select gate_name, value, value_lower, value_upper, n, application from {{ arm }}
    union all
    {%- endfor %}
    select gate_name, value, value_lower, value_upper, n, application
    from {{ ref('hcat', 'int_failure_measurements') }}
),

-- a score that may not decide bars no release
barred as (
    select
        gates.gate_name,
        gates.metric_name || ' is shown and not admitted: ' || metrics.admission_reason as bar
    from gates
    inner join {{ ref('hcat', 'dim_metrics') }} as metrics on gates.metric_name = metrics.metric_name
    where not metrics.is_deciding and gates.measurement in ('share_passing', 'mean_score', 'version_difference')
),

final as (
    select
        concat_ws(' of ', gates.gate_name, measured.application) as gate_name,
        gates.gate_name as seed_gate_name,
        measured.application, gates.measurement, gates.metric_name, gates.dimension, gates.segment,
        gates.severity, gates.burden, gates.comparison, gates.rationale,
        -- the decision of the threshold of the gate itself, otherwise of the threshold by which its metric fails
        coalesce(
            barred.bar, decisions.decision_note,
            if(decisions.decision_name is null, 'decision ' || gates.decision_name || ' is unknown', null),
            metric_decisions.decision_note
        ) as decision_note,
        -- of the decision that the note is about; an expired decision keeps its threshold
        barred.bar is not null
        or coalesce(
            case when decisions.decision_note is not null then decisions.decision_status end,
            metric_decisions.decision_status
        ) like 'void%' as is_decision_void,
        case when gates.decision_name is not null then decisions.threshold else gates.threshold end::double
            as threshold,
        gates.minimum_n::bigint as minimum_n,
        measured.value::double as measured_value, measured.value_lower::double as lower_bound,
        measured.value_upper::double as upper_bound, measured.n::bigint as n,
        -- what the sentence of the gate says of a rate of failures
        failures.population, failures.found_segment, failures.count_judged, failures.count_interactions,
        failures.count_labels, failures.count_labels_by_people, failures.count_labels_by_language_models
    from gates
    left join {{ ref('hcat', 'int_threshold_decisions') }} as decisions on gates.decision_name = decisions.decision_name
    left join {{ ref('hcat', 'int_threshold_decisions') }} as metric_decisions
        on gates.metric_name = metric_decisions.metric_name
    left join barred on gates.gate_name = barred.gate_name
    left join measured on gates.gate_name = measured.gate_name and barred.gate_name is null
    left join {{ ref('hcat', 'int_failure_measurements') }} as failures
        on gates.gate_name = failures.gate_name and measured.application is not distinct from failures.application
    -- the worst candidate; nothing is shown of one without a value
    qualify row_number() over (
            partition by gates.gate_name, measured.application
            order by
                if(gates.comparison = 'at_most', -1, 1) * measured.value nulls first,
                measured.value_lower, measured.value_upper, measured.n
        ) = 1
)

select * from final
