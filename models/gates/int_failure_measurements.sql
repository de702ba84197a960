-- Rates are those of the candidate, in its release population or in the one that the gate names. Of several
-- applications the worst counts for the gate, and each has a row of its own for its release decision.
with gates as (
    select * from {{ ref('hcat', 'int_gates_in_force') }}
),

candidates as (
    select distinct system, {{ named('application') }} as application, population as release_population
    from {{ ref('hcat', 'fct_interactions') }}
    where is_in_release_population
),

applications as (
    {{ applications_measured('candidates') }}
),

rates as (
    select
        rates.*, applications.application, candidates.release_population
    from {{ ref('hcat', 'fct_failure_rates') }} as rates
    inner join candidates on rates.system = candidates.system
    inner join applications on coalesce(applications.application, candidates.application) = candidates.application
),

-- a gate names the verdict, or a metric of the criterion that it asks for; and a population, a dimension, or a segment
asked as (
    select
        gates.gate_name, gates.measurement,
        coalesce(metrics.criterion, gates.metric_name) as criterion,
        case when gates.dimension = 'population' then gates.segment end as population,
        case when gates.dimension not in ('all', 'population') then gates.dimension end as dimension,
        case when gates.dimension <> 'population' then nullif(gates.segment, 'all') end as segment
    from gates
    left join {{ ref('hcat', 'dim_metrics') }} as metrics on gates.metric_name = metrics.metric_name
    where gates.measurement in ('share_failing', 'worst_segment_failing')
),

-- The worst of several applications, or the segment that is shown to fail most. An application without a rate is the
-- worst: nothing is shown of it. A segment without one, or with few clusters, does not count.
worst as (
    select
        asked.gate_name, rates.*,
        case when asked.measurement = 'worst_segment_failing' then rates.dimension || ' ' || rates.segment end
            as found_segment
    from asked
    inner join rates
        on
            asked.criterion = rates.criterion
            and coalesce(asked.population, rates.release_population) = rates.population
            and if(
                asked.measurement = 'worst_segment_failing',
                not rates.is_small and rates.failure_rate is not null
                and coalesce(asked.segment, rates.segment) = rates.segment
                and rates.dimension not in ('all', 'period')
                -- nobody can mend a week that is over; what a retriever or an answer did is a cause, not whom it serves
                and rates.dimension = coalesce(
                    asked.dimension,
                    if(rates.dimension in ('asked_week', 'retrieval_hit', 'answer_length'), null, rates.dimension)
                ),
                coalesce(asked.dimension, 'all') = rates.dimension and coalesce(asked.segment, 'all') = rates.segment
            )
    qualify row_number() over (
            partition by asked.gate_name, rates.application
            order by
                case when asked.measurement = 'worst_segment_failing' then rates.failure_rate_lower end desc,
                rates.failure_rate desc nulls first, rates.system asc, rates.dimension asc, rates.segment asc
        ) = 1
),

-- what the threshold in force lets through, beyond what the owner tolerates
accepted as (
    select
        gates.gate_name,
        thresholds.false_accept_rate - thresholds.false_accept_tolerated_share as value,
        thresholds.false_accept_rate_lower - thresholds.false_accept_tolerated_share as value_lower,
        thresholds.false_accept_rate_upper - thresholds.false_accept_tolerated_share as value_upper,
        thresholds.false_accept_count_labels as n
    from gates
    inner join {{ ref_if_on(
        'calibration', 'fct_metric_thresholds',
        'metric_name, method, is_appetite_of_application boolean, false_accept_rate double,'
        ~ ' false_accept_rate_lower double, false_accept_rate_upper double, false_accept_tolerated_share double,'
        ~ ' false_accept_count_labels bigint'
    ) }} as thresholds
        on gates.metric_name = thresholds.metric_name
    where
        gates.measurement = 'false_accepts_above_appetite'
        and thresholds.method = 'decided'
        and thresholds.is_appetite_of_application
),

final as (
    select
        gate_name, application,
        failure_rate as value,
        failure_rate_lower as value_lower,
        failure_rate_upper as value_upper,
        -- of few clusters nothing is decided; what nobody and no score judged is not counted
        if(is_small, count_clusters, count_judged) as n,
        population, found_segment, count_judged, count_interactions, count_labels, count_labels_by_people,
        count_labels_by_language_models
    from worst
    union all
    select
        gate_name,
        null as application,
        value, value_lower, value_upper, n,
        null as population, null as found_segment, null as count_judged, null as count_interactions,
        null as count_labels, null as count_labels_by_people, null as count_labels_by_language_models
    from accepted
)

select * from final
