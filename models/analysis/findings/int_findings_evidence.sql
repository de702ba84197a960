-- One row per finding whose cell exists in this build: what labels say of it, inside against outside of the cell, and
-- three failing answers to different questions. Both are of the release population, as the finding is.
{%- set count_examples = 3 %}

with findings as (
    select
        weak.cell_id,
        weak.metric_name,
        described.cell_key,
        metrics.criterion,
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
    select interaction_id, cluster_id, raw_score from {{ ref('hcat', 'fct_verdicts') }}
    where is_in_release_population
),

-- one label of each answer; of the verdict, an answer fails that any criterion fails
labels as (
    select
        ratings.criterion,
        ratings.interaction_id,
        max(case when ratings.human_label = 0 then 1 else 0 end) as failed,
        1 / min(ratings.inclusion_probability) as weight,
        min(ratings.label_rater_kind) as rater_kind
    from {{ ref_if_on(
        'calibration', 'fct_ratings',
        'interaction_id string, criterion string, human_label integer, inclusion_probability double,'
        ~ ' label_rater_kind string'
    ) }} as ratings
    where ratings.human_label is not null
    group by grouping sets ((ratings.interaction_id, ratings.criterion), (ratings.interaction_id))
),

by_cluster as (
    select
        findings.cell_id,
        members.interaction_id is not null as is_inside,
        verdicts.cluster_id,
        count(*) as count_labels,
        sum(labels.failed) as count_failed,
        {{ exact_sum('labels.weight') }} as weight,
        {{ exact_sum('labels.weight * labels.failed') }} as weight_failed,
        min(labels.rater_kind) as first_kind,
        max(labels.rater_kind) as last_kind
    from findings
    inner join labels on coalesce(findings.criterion, 'any') = coalesce(labels.criterion, 'any')
    inner join verdicts on labels.interaction_id = verdicts.interaction_id
    left join members on findings.cell_id = members.cell_id and labels.interaction_id = members.interaction_id
    group by findings.cell_id, members.interaction_id is not null, verdicts.cluster_id
),

-- siblings do not count as independent: Kish's effective number over clusters
sides as (
    select
        cell_id,
        is_inside,
        sum(count_labels) as count_labels,
        sum(count_failed) as count_failed,
        sum(weight_failed) / sum(weight) as failing,
        sum(weight) * sum(weight) / sum(weight * weight) as effective_n,
        min(first_kind) as first_kind,
        max(last_kind) as last_kind
    from by_cluster
    group by cell_id, is_inside
),

bounded as (
    select
        *,
        {{ wilson_bound('failing', 'effective_n', 'lower') }} as failing_lower,
        {{ wilson_bound('failing', 'effective_n', 'upper') }} as failing_upper
    from sides
),

-- the interval of the difference of two shares by Newcombe (1998)
said as (
    select
        findings.cell_id,
        inside.count_labels as count_labels_inside,
        inside.count_failed as count_failed_labels_inside,
        outside.count_labels as count_labels_outside,
        outside.count_failed as count_failed_labels_outside,
        inside.failing - outside.failing as difference,
        sqrt(power(inside.failing - inside.failing_lower, 2) + power(outside.failing_upper - outside.failing, 2))
            as below,
        sqrt(power(inside.failing_upper - inside.failing, 2) + power(outside.failing - outside.failing_lower, 2))
            as above,
        least(inside.first_kind, outside.first_kind) as first_kind,
        greatest(inside.last_kind, outside.last_kind) as last_kind
    from findings
    left join bounded as inside on findings.cell_id = inside.cell_id and inside.is_inside
    left join bounded as outside on findings.cell_id = outside.cell_id and not outside.is_inside
),

-- the lowest score of the metric; the verdict has none, and the score behind it counts
failing as (
    select
        findings.cell_id,
        evaluations.interaction_id,
        {{ record({
            'signed_score': 'evaluations.raw_score * findings.score_sign',
            'score': 'coalesce(verdicts.raw_score, 1)',
            'interaction_id': 'evaluations.interaction_id',
        }) }} as position,
        verdicts.cluster_id
    from findings
    inner join members on findings.cell_id = members.cell_id
    inner join {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
        on members.interaction_id = evaluations.interaction_id and findings.metric_name = evaluations.metric_name
    inner join verdicts on evaluations.interaction_id = verdicts.interaction_id
    where coalesce(evaluations.is_failing, evaluations.threshold is null)
),

of_questions as (
    select
        cell_id,
        cluster_id,
        min(position) as position
    from failing
    group by cell_id, cluster_id
),

examples as (
    select
        cell_id,
        {{ array_map(least_records({'position': 'position'}, count_examples), 'each.position.interaction_id') }}
            as example_interaction_ids
    from of_questions
    group by cell_id
),

final as (
    select
        said.cell_id,
        case
            when said.difference - said.below > 0 then 'supported'
            when said.difference + said.above < 0 then 'contradicted'
            else 'silent'
        end as labels_say,
        case when said.first_kind <> said.last_kind then 'both' else said.first_kind end as labels_by,
        coalesce(said.count_labels_inside, 0)::bigint as count_labels_inside,
        coalesce(said.count_failed_labels_inside, 0)::bigint as count_failed_labels_inside,
        coalesce(said.count_labels_outside, 0)::bigint as count_labels_outside,
        coalesce(said.count_failed_labels_outside, 0)::bigint as count_failed_labels_outside,
        examples.example_interaction_ids
    from said
    left join examples on said.cell_id = examples.cell_id
)

select * from final
