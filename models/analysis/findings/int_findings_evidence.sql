-- Labels and answers are of the release population, as the finding is.
{%- set count_examples = 3 %}

with findings as (
    select
        weak.cell_id, weak.metric_name, described.cell_key, metrics.criterion,
        case when metrics.direction = 'higher_is_better' then 1 else -1 end as score_sign
    from (select distinct cell_id, metric_name from {{ ref('hcat', 'int_findings_seen') }}) as weak
    inner join {{ ref('hcat', 'int_metric_cells') }} as described on weak.cell_id = described.cell_id
    inner join {{ ref('hcat', 'dim_metrics') }} as metrics on weak.metric_name = metrics.metric_name
),

members as (
    select findings.cell_id, cells.interaction_id
    from findings
    inner join {{ ref('hcat', 'int_interaction_cells') }} as cells on findings.cell_key = cells.cell_key
),

verdicts as (
    select * from {{ ref('hcat', 'fct_verdicts') }}
    where is_in_release_population
),

rated as (
    select interaction_id, criterion, human_label, inclusion_probability, label_rater_kind
    from {{ ref_if_on(
        'calibration', 'fct_ratings',
        'interaction_id, criterion, human_label integer, inclusion_probability double, label_rater_kind'
    ) }}
    where human_label is not null
),

criteria as (
    select interaction_id, criterion, human_label, inclusion_probability, label_rater_kind from rated
    union all
    select interaction_id, 'any' as criterion, human_label, inclusion_probability, label_rater_kind from rated
),

-- one label of each answer; of a metric without a criterion, as the verdict, an answer fails that any criterion fails
labels as (
    select
        criterion, interaction_id,
        1 - min(human_label) as failed,
        1 / min(inclusion_probability) as weight,
        min(label_rater_kind) as rater_kind
    from criteria
    group by criterion, interaction_id
),

by_cluster as (
    select
        findings.cell_id, verdicts.cluster_id, members.interaction_id is not null as is_inside,
        count(*) as count_labels, sum(labels.failed) as count_failed,
        {{ exact_sum('verdicts.sampling_weight * labels.weight') }} as weight,
        {{ exact_sum('verdicts.sampling_weight * labels.weight * labels.failed') }} as weight_failed,
        min(labels.rater_kind) as first_kind, max(labels.rater_kind) as last_kind
    from findings
    inner join labels on coalesce(findings.criterion, 'any') = labels.criterion
    inner join verdicts on labels.interaction_id = verdicts.interaction_id
    left join members on findings.cell_id = members.cell_id and labels.interaction_id = members.interaction_id
    group by findings.cell_id, members.interaction_id is not null, verdicts.cluster_id
),

-- siblings do not count as independent: Kish's effective number over clusters
sides as (
    select
        cell_id, is_inside, sum(count_labels) as count_labels, sum(count_failed) as count_failed,
        sum(weight_failed) / sum(weight) as failing, sum(weight) * sum(weight) / sum(weight * weight) as effective_n,
        min(first_kind) as first_kind, max(last_kind) as last_kind
    from by_cluster
    group by cell_id, is_inside
),

bounded as (
    select
        *,
        failing - {{ wilson_bound('failing', 'effective_n', 'lower') }} as below,
        {{ wilson_bound('failing', 'effective_n', 'upper') }} - failing as above
    from sides
),

-- the lowest score of the metric; the verdict has none, and the score behind it counts
failing as (
    select
        findings.cell_id, evaluations.interaction_id,
        {{ record({
            'signed_score': 'evaluations.raw_score * findings.score_sign',
            'score': 'coalesce(verdicts.raw_score, 1)',
            'interaction_id': 'evaluations.interaction_id',
        }) }} as position,
        verdicts.cluster_id, verdicts.grounding_fault
    from findings
    inner join members on findings.cell_id = members.cell_id
    inner join {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
        on members.interaction_id = evaluations.interaction_id and findings.metric_name = evaluations.metric_name
    inner join verdicts on evaluations.interaction_id = verdicts.interaction_id
    where coalesce(evaluations.is_failing, evaluations.threshold is null)
),

of_questions as (
    select failing.cell_id, failing.cluster_id, min(failing.position) as position
    from failing
    group by failing.cell_id, failing.cluster_id
),

examples as (
    select
        of_questions.cell_id,
        {{ array_map(
            least_records({'position': 'of_questions.position'}, count_examples), 'each.position.interaction_id'
        ) }} as example_interaction_ids
    from of_questions
    group by of_questions.cell_id
),

-- the kind that most of the failing answers with a known kind have
faults as (
    select
        cell_id, grounding_fault, count(*) as count_of_kind, sum(count(*)) over (partition by cell_id) as count_known
    from failing
    where grounding_fault is not null
    group by cell_id, grounding_fault
    qualify row_number() over (partition by cell_id order by count(*) desc, grounding_fault asc) = 1
),

-- the interval of the difference of two shares by Newcombe (1998)
final as (
    select
        findings.cell_id,
        case
            when inside.failing - outside.failing > sqrt(power(inside.below, 2) + power(outside.above, 2))
                then 'supported'
            when outside.failing - inside.failing > sqrt(power(inside.above, 2) + power(outside.below, 2))
                then 'contradicted'
            else 'silent'
        end as labels_say,
        if(
            least(inside.first_kind, outside.first_kind) <> greatest(inside.last_kind, outside.last_kind),
            'mixed', least(inside.first_kind, outside.first_kind)
        ) as labels_by,
        inside.count_labels as count_labels_inside, inside.count_failed as count_failed_labels_inside,
        outside.count_labels as count_labels_outside, outside.count_failed as count_failed_labels_outside,
        examples.example_interaction_ids,
        replace(faults.grounding_fault, '_', ' ') || ' (' || faults.count_of_kind || ' of ' || faults.count_known || ')'
            as common_fault
    from findings
    left join bounded as inside on findings.cell_id = inside.cell_id and inside.is_inside
    left join bounded as outside on findings.cell_id = outside.cell_id and not outside.is_inside
    left join examples on findings.cell_id = examples.cell_id
    left join faults on findings.cell_id = faults.cell_id
)

select * from final
