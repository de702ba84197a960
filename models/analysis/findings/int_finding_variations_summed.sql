-- One row per (weak cell, variation, jackknife group), with sums of the cell and of all rows of its metric. Values are
-- turned so that a larger value is worse.
{{ config(materialized='table') }}
{%- set shift = var('hcat_sensitivity_threshold_shift') -%}
{%- set bins = var('hcat_sensitivity_length_bins') -%}

with weaknesses as (
    select * from {{ ref('hcat', 'int_weaknesses_tested') }}
),

evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
),

interactions as (
    select interaction_id, cluster_id, count_answer_characters from {{ ref('hcat', 'int_interactions_described') }}
),

segments as (
    select * from {{ ref('hcat', 'int_cell_segments') }}
),

clusters as (
    select * from {{ ref('hcat', 'int_clusters_bucketed') }}
),

metrics as (
    select metric_name, direction from {{ ref('hcat', 'int_metric_catalog') }}
),

findings as (
    select weaknesses.*, metrics.direction
    from weaknesses
    inner join metrics on weaknesses.metric_name = metrics.metric_name
    where weaknesses.is_weak
),

tested_metrics as (
    select distinct metric_name, measurement, direction from findings
),

-- every row of a metric with a finding, by each choice of threshold
judged as (
    select
        evaluations.interaction_id,
        evaluations.metric_name,
        tested_metrics.measurement,
        interactions.cluster_id,
        clusters.jackknife_group,
        interactions.count_answer_characters,
        case
            when tested_metrics.measurement = 'share_failing' then evaluations.is_failing::integer
            when tested_metrics.measurement = 'share_failing_of_all' then evaluations.is_failing_of_all::integer
            when tested_metrics.direction = 'higher_is_better' then 0 - evaluations.raw_score
            else evaluations.raw_score
        end::double as as_declared,
        case
            when tested_metrics.measurement = 'mean_score' then null
            when evaluations.raw_score is null and tested_metrics.measurement = 'share_failing_of_all'
                then evaluations.is_failing_of_all::integer
            when tested_metrics.direction = 'higher_is_better'
                then (evaluations.raw_score < evaluations.threshold - {{ shift }})::integer
            else (evaluations.raw_score > evaluations.threshold + {{ shift }})::integer
        end::double as threshold_looser,
        case
            when tested_metrics.measurement = 'mean_score' then null
            when evaluations.raw_score is null and tested_metrics.measurement = 'share_failing_of_all'
                then evaluations.is_failing_of_all::integer
            when tested_metrics.direction = 'higher_is_better'
                then (evaluations.raw_score < evaluations.threshold + {{ shift }})::integer
            else (evaluations.raw_score > evaluations.threshold - {{ shift }})::integer
        end::double as threshold_stricter
    from evaluations
    inner join tested_metrics on evaluations.metric_name = tested_metrics.metric_name
    inner join interactions on evaluations.interaction_id = interactions.interaction_id
    inner join clusters on interactions.cluster_id = clusters.cluster_id
),

valued as (
    select
        *,
        percent_rank() over (partition by metric_name order by count_answer_characters) as length_rank
    from judged
    where as_declared is not null
),

-- does the score get worse with longer answers, or with shorter ones?
lengths as (
    select
        metric_name,
        case
            when
                {{ exact_sum('length_rank * as_declared') }}
                >= {{ exact_sum('length_rank') }} * {{ exact_sum('as_declared') }} / count(*)
                then 1
            else 0 - 1
        end as length_sign
    from valued
    group by metric_name
),

celled as (
    select
        findings.cell_id,
        findings.margin,
        findings.cut_off,
        valued.cluster_id,
        valued.jackknife_group,
        valued.as_declared,
        valued.threshold_looser,
        valued.threshold_stricter,
        lengths.length_sign * valued.length_rank as length_only,
        least(floor(valued.length_rank * {{ bins }}), {{ bins }} - 1) as length_bin,
        {{ is_in_cell_of_a_finding() }} as is_in_cell
    from findings
    inner join valued on findings.metric_name = valued.metric_name
    inner join lengths on findings.metric_name = lengths.metric_name
    {{ join_segments_of_a_finding('valued') }}
),

bins_of_rest as (
    select cell_id, length_bin, {{ exact_mean('as_declared') }} as mean_of_rest
    from celled
    where not is_in_cell
    group by cell_id, length_bin
),

varied as (
    {%- for variation in ['as_declared', 'threshold_looser', 'threshold_stricter', 'length_only'] %}
    select
        cell_id,
        '{{ variation }}' as variation,
        cluster_id,
        jackknife_group,
        is_in_cell,
        {{ variation }} as value,
        {# ranks have no margin #}
        {{ '0' if variation == 'length_only' else 'margin' }} as margin,
        cut_off
    from celled
    where {{ variation }} is not null
    union all
    {%- endfor %}
    -- against answers of the rest of about the same length
    select
        celled.cell_id,
        'length_adjusted' as variation,
        celled.cluster_id,
        celled.jackknife_group,
        celled.is_in_cell,
        celled.as_declared - bins_of_rest.mean_of_rest as value,
        celled.margin,
        celled.cut_off
    from celled
    inner join bins_of_rest on celled.cell_id = bins_of_rest.cell_id and celled.length_bin = bins_of_rest.length_bin
),

final as (
    select
        cell_id,
        variation,
        jackknife_group,
        {{ sums_of_a_cell() }},
        max(margin)::double as margin,
        max(cut_off)::double as cut_off
    from varied
    group by cell_id, variation, jackknife_group
)

select * from final
