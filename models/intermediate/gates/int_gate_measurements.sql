-- One row per gate: what was measured, with its interval and n, and the threshold from the seed or from a decision.
with gates as (
    select * from {{ ref('threshold_gates') }}
),

decisions as (
    select * from {{ ref('threshold_decisions') }}
),

weaknesses as (
    select * from {{ ref('fct_marginal_weaknesses') }}
),

evaluation_counts as (
    select
        count(*) as count_evaluations,
        avg(case when score_status = 'failed' then 0.0 else 1.0 end) as share_not_failed
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
        record_counts.count_records,
        record_counts.share_accepted,
        case when gates.decision_name is not null then decisions.threshold else gates.threshold end
            as applied_threshold,
        case
            when decisions.valid_until < current_date
                then 'decision ' || decisions.decision_name || ' expired on ' || decisions.valid_until
        end as decision_note
    from gates
    left join decisions on gates.decision_name = decisions.decision_name
    left join weaknesses
        on
            gates.metric_name = weaknesses.metric_name
            and gates.dimension = weaknesses.dimension
            and gates.segment = weaknesses.segment
    left join overconfidence on gates.metric_name = overconfidence.metric_name
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
            when 'share_not_failed' then share_not_failed
            when 'share_records_accepted' then share_accepted
        end::double as measured_value,
        case measurement
            when 'share_passing' then share_passing_lower
            when 'mean_score' then mean_score_lower
            when 'system_overconfidence' then overconfidence_lower
            -- counts of this build's own rows are exact
            when 'share_not_failed' then share_not_failed
            when 'share_records_accepted' then share_accepted
        end::double as lower_bound,
        case measurement
            when 'share_passing' then share_passing_upper
            when 'mean_score' then mean_score_upper
            when 'system_overconfidence' then overconfidence_upper
            when 'share_not_failed' then share_not_failed
            when 'share_records_accepted' then share_accepted
        end::double as upper_bound,
        case measurement
            when 'share_passing' then count_scored
            when 'mean_score' then count_scored
            when 'system_overconfidence' then count_labels
            when 'share_not_failed' then count_evaluations
            when 'share_records_accepted' then count_records
        end::bigint as n
    from joined
)

select * from final
