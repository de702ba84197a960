-- What somebody decides by: whole systems, and the segments with judged clusters enough. Labels and scores together
-- give the rate where raters labelled clusters enough, or rules know all. Elsewhere it is the share of verdicts that
-- fail, of those that decide. A handful of them gives no rate of the many answers without a verdict; labels may.
{%- set minimum = var('hcat_minimum_segment_clusters') %}
{%- set counts = ['count_interactions', 'count_known_outcomes', 'count_judged', 'count_failing', 'count_labels',
    'count_labels_by_people', 'count_labels_by_language_models', 'count_failures'] %}
with estimated as (
    select * from {{ ref_if_on(
        'calibration', 'int_failure_rates_estimated',
        'criterion, system, population, dimension, segment, method, message, statement, count_interactions bigint,'
        ~ ' count_known_outcomes bigint, count_labels bigint, count_labels_by_people bigint,'
        ~ ' count_labels_by_language_models bigint, count_failures bigint, count_clusters bigint, effective_n double,'
        ~ ' failure_rate double, failure_rate_lower double, failure_rate_upper double, labels_only_rate double,'
        ~ ' power_tuning double, width_ratio double'
    ) }}
),

-- the first day of the weeks in which more answers fail than before
change as (
    select min(window_start) as changed_on
    from {{ ref_if_on(
        'drift', 'int_drift_measured',
        'part, metric_name, dimension, test, is_drifting boolean, window_start date, difference double'
    ) }}
    where
        part = 'drift' and is_drifting and difference < 0 and test = 'mean_shift'
        and metric_name = 'verdict' and dimension = 'all'
),

periods as (
    select
        interactions.interaction_id,
        'period' as dimension,
        if(interactions.asked_at >= change.changed_on, 'since ', 'before ') || change.changed_on::string as segment
    from {{ ref('hcat', 'fct_interactions') }} as interactions
    inner join change on interactions.asked_at is not null and change.changed_on is not null
    where interactions.is_in_monitored_population
),

cells as (
    select interaction_id, dimension, segment from {{ ref('hcat', 'int_interaction_segments') }}
    union all
    select interaction_id, dimension, segment from periods
),

summed_by_cluster as (
    select
        verdicts.system, verdicts.population, cells.dimension, cells.segment, verdicts.cluster_id,
        count(*) as count_interactions,
        count(case when verdicts.decided_by = 'rule' then 1 end) as count_known_outcomes,
        count(case when verdicts.verdict in ('failing', 'acceptable') then 1 end) as count_judged,
        count(case when verdicts.verdict = 'failing' then 1 end) as count_failing,
        count(case when verdicts.decided_by <> 'rule' then verdicts.human_label end) as count_labels,
        {%- for name, kind in {'people': 'person', 'language_models': 'language_model'}.items() %}
        count(case when verdicts.decided_by <> 'rule' and verdicts.label_rater_kind = '{{ kind }}' then 1 end)
            as count_labels_by_{{ name }},
        {%- endfor %}
        count(case when verdicts.decided_by <> 'rule' and verdicts.human_label = 0 then 1 end) as count_failures,
        {{ exact_sum("case when verdicts.verdict in ('failing', 'acceptable') then verdicts.sampling_weight end") }}
            as weight_judged,
        {{ exact_sum("case when verdicts.verdict = 'failing' then verdicts.sampling_weight end") }} as weight_failing
    from cells
    inner join {{ ref('hcat', 'fct_verdicts') }} as verdicts on cells.interaction_id = verdicts.interaction_id
    group by verdicts.system, verdicts.population, cells.dimension, cells.segment, verdicts.cluster_id
),

summed as (
    select
        system, population, dimension, segment,
        {%- for count in counts %}
        sum({{ count }})::bigint as {{ count }},
        {%- endfor %}
        count(case when count_judged > 0 then 1 end) as count_clusters,
        count(case when count_labels > 0 then 1 end) as count_labelled_clusters,
        {{ exact_sum('weight_failing') }} / nullif({{ exact_sum('weight_judged') }}, 0) as failure_rate,
        -- siblings, and unequal weights, say less than their number (Kish)
        {{ exact_sum('weight_judged') }} * {{ exact_sum('weight_judged') }}
        / nullif({{ exact_sum('weight_judged * weight_judged') }}, 0) as effective_n
    from summed_by_cluster
    group by system, population, dimension, segment
),

bounded as (
    select
        *,
        -- rounding must not push the rate out of its own interval
        least(failure_rate, {{ wilson_bound('failure_rate', 'effective_n', 'lower') }}) as failure_rate_lower,
        greatest(failure_rate, {{ wilson_bound('failure_rate', 'effective_n', 'upper') }}) as failure_rate_upper,
        count_judged > 0 and (count_clusters >= {{ minimum }} or count_judged > count_interactions - count_judged)
            as has_rate
    from summed
),

labelled as (
    select
        estimated.*,
        if(
            estimated.method = 'labels_only',
            estimated.count_labels + estimated.count_known_outcomes, estimated.count_interactions
        ) as count_judged
    from estimated
    left join bounded
        on
            estimated.criterion = 'verdict' and estimated.system = bounded.system
            and estimated.population = bounded.population and estimated.dimension = bounded.dimension
            and estimated.segment = bounded.segment
            and bounded.has_rate and bounded.count_labelled_clusters < {{ minimum }}
    where
        estimated.criterion <> 'verdict' or estimated.method = 'known_outcomes'
        or (estimated.method <> 'insufficient' and bounded.system is null)
),

united as (
    select * from labelled
    union all
    select
        'verdict' as criterion,
        bounded.system, bounded.population, bounded.dimension, bounded.segment,
        if(bounded.has_rate, 'verdicts', 'insufficient') as method,
        'rules decide ' || bounded.count_known_outcomes || ', raters ' || bounded.count_labels
        || ' and scores the rest of ' || bounded.count_judged || ' verdicts; '
        || (bounded.count_interactions - bounded.count_judged) || ' answers are not decided'
        || if(bounded.has_rate, '', '; verdicts of {{ minimum }} clusters are needed') as message,
        if(
            bounded.has_rate,
            bounded.count_failing || ' of ' || bounded.count_judged || ' judged answers fail: '
            || round(100 * bounded.failure_rate)::integer || ' % ('
            || round(100 * bounded.failure_rate_lower)::integer || ' % to '
            || round(100 * bounded.failure_rate_upper)::integer || ' %)', null
        ) as statement,
        bounded.count_interactions, bounded.count_known_outcomes, bounded.count_labels,
        bounded.count_labels_by_people, bounded.count_labels_by_language_models, bounded.count_failures,
        bounded.count_clusters, bounded.effective_n,
        {%- for rate in ['failure_rate', 'failure_rate_lower', 'failure_rate_upper'] %}
        if(bounded.has_rate, bounded.{{ rate }}, null) as {{ rate }},
        {%- endfor %}
        null as labels_only_rate, null as power_tuning, null as width_ratio, bounded.count_judged
    from bounded
    left join labelled
        on
            labelled.criterion = 'verdict' and bounded.system = labelled.system
            and bounded.population = labelled.population and bounded.dimension = labelled.dimension
            and bounded.segment = labelled.segment
    where labelled.criterion is null
)

select {{ columns_of_contract({
    'failure_rate_id': "md5(concat_ws('|', criterion, system, population, dimension, segment))",
    'is_small': 'count_clusters < ' ~ minimum,
}) }}
from united
where dimension in ('all', 'period') or count_clusters >= {{ minimum }}
