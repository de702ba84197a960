-- One row per gate: what was measured, with its interval and n, and the threshold from the seed or from a decision.
with gates as (
    select * from {{ ref('threshold_gates') }}
),

decisions as (
    select * from {{ ref('int_threshold_decisions') }}
),

weaknesses as (
    select * from {{ ref('fct_marginal_weaknesses') }}
),

evaluation_counts as (
    select
        count(*) as count_evaluations,
        avg(case when score_status = 'failed' then 0 else 1 end) as share_not_failed
    from {{ ref('fct_evaluations') }}
),

-- the system whose answers the calibrated probabilities flatter most
overconfidence as (
    select
        metric_name,
        0 - difference as value,
        0 - difference_high as value_lower,
        0 - difference_low as value_upper,
        count_labels
    from {{ ref('fct_system_calibration') }}
    where status = 'measured'
    qualify row_number() over (partition by metric_name order by difference, system) = 1
),

-- the application whose latest version lost most against its predecessor
version_differences as (
    select
        metric_name,
        dimension,
        segment,
        difference,
        difference_lower,
        difference_upper,
        count_pairs
    from {{ ref('fct_version_comparisons') }}
    where is_latest and measurement = 'share_failing_of_all' and difference_lower is not null
    qualify row_number() over (partition by metric_name, dimension, segment order by difference, application) = 1
),

-- an empty metric, dimension or segment of the gate means any
drift_counts as (
    select
        gates.gate_name,
        count(distinct case
            when drift.is_drifting then concat_ws('|', drift.metric_name, drift.dimension, drift.segment)
        end) as count_drifting,
        count(distinct case
            when drift.status = 'tested' then concat_ws('|', drift.metric_name, drift.dimension, drift.segment)
        end) as count_tested
    from gates
    inner join {{ ref('fct_metric_drift') }} as drift
        on
            (gates.measurement = 'count_drifting_mixes') = (drift.test = 'mix_shift')
            and drift.metric_name is not distinct from coalesce(gates.metric_name, drift.metric_name)
            and drift.dimension = coalesce(gates.dimension, drift.dimension)
            and drift.segment = coalesce(gates.segment, drift.segment)
    where gates.measurement in ('count_drifting_series', 'count_drifting_mixes')
    group by gates.gate_name
),

record_counts as (
    select
        sum(count_landed - count_repeated) as count_records,
        sum(count_staged) / nullif(sum(count_landed - count_repeated), 0)::double as share_accepted
    from {{ ref('int_records_counted') }}
),

joined as (
    select
        gates.*,
        weaknesses.count_sources,
        weaknesses.mean_score,
        weaknesses.mean_score_lower,
        weaknesses.mean_score_upper,
        1 - weaknesses.share_failing as share_passing,
        1 - weaknesses.share_failing_upper as share_passing_lower,
        1 - weaknesses.share_failing_lower as share_passing_upper,
        weaknesses.count_scored,
        evaluation_counts.count_evaluations,
        evaluation_counts.share_not_failed,
        overconfidence.value as overconfidence,
        overconfidence.value_lower as overconfidence_lower,
        overconfidence.value_upper as overconfidence_upper,
        overconfidence.count_labels,
        version_differences.difference as version_difference,
        version_differences.difference_lower as version_difference_lower,
        version_differences.difference_upper as version_difference_upper,
        version_differences.count_pairs,
        drift_counts.count_drifting,
        drift_counts.count_tested,
        record_counts.count_records,
        record_counts.share_accepted,
        case when gates.decision_name is not null then decisions.threshold else gates.threshold end
            as applied_threshold,
        -- of the threshold of the gate itself, else of that by which its metric fails
        coalesce(decisions.decision_note, metric_decisions.decision_note) as decision_note
    from gates
    left join decisions on gates.decision_name = decisions.decision_name
    left join decisions as metric_decisions on gates.metric_name = metric_decisions.metric_name
    left join weaknesses
        on
            gates.metric_name = weaknesses.metric_name
            and gates.dimension = weaknesses.dimension
            and gates.segment = weaknesses.segment
    left join overconfidence on gates.metric_name = overconfidence.metric_name
    left join version_differences
        on
            gates.metric_name = version_differences.metric_name
            and gates.dimension = version_differences.dimension
            and gates.segment = version_differences.segment
    left join drift_counts on gates.gate_name = drift_counts.gate_name
    cross join evaluation_counts
    cross join record_counts
),

final as (
    select
        gate_name,
        measurement,
        metric_name,
        dimension,
        segment,
        severity,
        burden,
        comparison,
        rationale,
        decision_note,
        applied_threshold::double as threshold,
        minimum_n::bigint as minimum_n,
        case measurement
            when 'share_passing' then share_passing
            when 'mean_score' then mean_score
            when 'system_overconfidence' then overconfidence
            when 'version_difference' then version_difference
            when 'share_not_failed' then share_not_failed
            when 'share_records_accepted' then share_accepted
            when 'count_drifting_series' then count_drifting
            when 'count_drifting_mixes' then count_drifting
        end::double as measured_value,
        case measurement
            when 'share_passing' then share_passing_lower
            when 'mean_score' then mean_score_lower
            when 'system_overconfidence' then overconfidence_lower
            when 'version_difference' then version_difference_lower
            -- counts of this build's own rows are exact
            when 'share_not_failed' then share_not_failed
            when 'share_records_accepted' then share_accepted
            when 'count_drifting_series' then count_drifting
            when 'count_drifting_mixes' then count_drifting
        end::double as lower_bound,
        case measurement
            when 'share_passing' then share_passing_upper
            when 'mean_score' then mean_score_upper
            when 'system_overconfidence' then overconfidence_upper
            when 'version_difference' then version_difference_upper
            when 'share_not_failed' then share_not_failed
            when 'share_records_accepted' then share_accepted
            when 'count_drifting_series' then count_drifting
            when 'count_drifting_mixes' then count_drifting
        end::double as upper_bound,
        case measurement
            when 'share_passing' then count_scored
            when 'mean_score' then count_scored
            when 'system_overconfidence' then count_labels
            when 'version_difference' then count_pairs
            when 'share_not_failed' then count_evaluations
            when 'share_records_accepted' then count_records
            when 'count_drifting_series' then count_tested
            when 'count_drifting_mixes' then count_tested
        end::bigint as n
    from joined
)

select * from final
