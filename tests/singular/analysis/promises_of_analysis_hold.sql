-- What findings, versions, failure rates and privacy promise. A row names the broken promise and what breaks it.
{{ promises() }}

{% call promise('weak_cells_are_findings', ['fct_findings']) %}
-- The register contains every weak cell of a deciding metric of the build as weak, and no other cell.
with expected as (
    select tested.cell_id
    from {{ ref('hcat', 'int_weaknesses_tested') }} as tested
    inner join {{ ref('hcat', 'dim_metrics') }} as metrics on tested.metric_name = metrics.metric_name
    where tested.is_weak and metrics.is_deciding
),

found as (
    select finding_id as cell_id
    from {{ ref('hcat', 'fct_findings') }}
    where retest_result = 'weak'
)

{{ rows_that_differ('cell_id') }}
{% endcall %}

{% call promise('sightings_have_a_result', ['fct_findings']) %}
-- Every sighting of a finding has a result, and it is one of four words.
select finding_sighting_id as id, coalesce(retest_result, 'no result') as problem
from {{ ref('hcat', 'int_findings_seen') }}
where
    retest_result is null
    or retest_result not in ('weak', 'no_longer_weak', 'not_shown', 'not_retested')
{% endcall %}

{% call promise('failure_causes_are_complete', ['fct_failure_causes']) %}
-- Every failing (interaction, primary metric) has a cause, and nothing else has one.
with expected as (
    select interaction_id, metric_name
    from {{ ref('hcat', 'int_primary_evaluations') }}
    where is_failing_of_all
),

found as (
    select interaction_id, metric_name from {{ ref('hcat', 'fct_failure_causes') }}
)

{{ rows_that_differ("concat_ws(' ', interaction_id, metric_name)") }}
{% endcall %}

{% call promise('version_regressions_are_complete', ['fct_version_comparisons', 'fct_version_regressions']) %}
-- The regressions that a comparison counts over all queries are exactly the listed ones.
with expected as (
    select application, baseline_version, candidate_version, metric_name, count_regressions
    from {{ ref('hcat', 'fct_version_comparisons') }}
    where dimension = 'all' and measurement = 'share_failing_of_all' and count_regressions > 0
),

found as (
    select application, baseline_version, candidate_version, metric_name, count(*) as count_regressions
    from {{ ref('hcat', 'fct_version_regressions') }}
    group by application, baseline_version, candidate_version, metric_name
)

{{ rows_that_differ("concat_ws(' ', application, baseline_version, candidate_version, metric_name)") }}
{% endcall %}

{% call promise('failure_rates_add_up_to_the_labels', ['fct_failure_rates']) %}
-- Every system has a row, and so has each of its segments that labels or rules say enough of, with all of its labels.
with verdicts as (
    select * from {{ ref('hcat', 'fct_verdicts') }}
),

evaluations as (
    -- A label says the same of an interaction in the rows of all metrics of its criterion. An expected refusal needs none.
    select distinct
        targets.criterion, targets.interaction_id, verdicts.system, verdicts.population, verdicts.cluster_id,
        verdicts.verdict_rule = 'refused_as_expected' as is_known,
        case when verdicts.verdict_rule <> 'refused_as_expected' then targets.label end as label
    from {{ ref_if_on('calibration', 'int_target_evaluations', 'criterion, interaction_id, label integer') }} as targets
    inner join verdicts on targets.interaction_id = verdicts.interaction_id
    where verdicts.verdict_rule <> 'no_answer'
    union all
    select
        'verdict' as criterion, interaction_id, system, population, cluster_id, decided_by = 'rule' as is_known,
        case when decided_by <> 'rule' then human_label end as label
    from verdicts
),

segments as (
    select * from {{ ref('hcat', 'int_interaction_segments') }}
),

by_segment as (
    select
        evaluations.criterion, evaluations.system, evaluations.population, segments.dimension, segments.segment,
        count(*) as count_interactions,
        count(evaluations.label) as count_labels,
        count(distinct case when evaluations.label is not null or evaluations.is_known then evaluations.cluster_id end)
            as count_clusters
    from evaluations
    inner join segments on evaluations.interaction_id = segments.interaction_id
    group by
        evaluations.criterion, evaluations.system, evaluations.population, segments.dimension, segments.segment
),

-- segments of the verdict may stand on scores alone
expected as (
    select criterion, system, population, dimension, segment, count_interactions, count_labels from by_segment
    where
        dimension = 'all'
        or (criterion <> 'verdict' and count_clusters >= {{ var('hcat_minimum_segment_clusters') }})
),

found as (
    select criterion, system, population, dimension, segment, count_interactions, count_labels
    from {{ ref('hcat', 'fct_failure_rates') }}
    where criterion <> 'verdict' or dimension = 'all'
)

{{ rows_that_differ("concat_ws(' ', criterion, system, population, dimension, segment)") }}
{% endcall %}

{% call promise('effective_labels_are_at_most_labels', ['fct_failure_rates']) %}
-- Weights only lower the effective number.
select failure_rate_id as id, 'a larger effective number than labels' as problem
from {{ ref('hcat', 'fct_failure_rates') }}
where method in ('prediction_powered', 'labels_only') and effective_n > count_labels + 0.000001
{% endcall %}

{% call promise('privacy_findings_have_interactions', ['fct_privacy_findings']) %}
-- Every finding of personal data belongs to an interaction.
select findings.privacy_finding_id as id, 'no such interaction' as problem
from {{ ref('hcat', 'fct_privacy_findings') }} as findings
left join {{ ref('hcat', 'fct_interactions') }} as interactions on findings.interaction_id = interactions.interaction_id
where findings.interaction_id is not null and interactions.interaction_id is null
{% endcall %}
