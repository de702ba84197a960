-- One row per (metric, cell), with counts, level, spread, quantiles and failures over all its interactions.
{{ config(materialized='table') }}

with estimates as (
    select *
    from {{ ref('hcat', 'int_cell_estimates') }}
    where half = 'all'
),

totals as (
    select *
    from {{ ref('hcat', 'int_cell_totals') }}
    where half = 'all'
),

quantiles as (
    select *
    from {{ ref_if_on(
        'distributions', 'int_cell_quantiles', 'metric_number integer, cell_number bigint, quantile double, score double'
    ) }}
),

cells as (
    select * from {{ ref('hcat', 'int_cells') }}
),

metrics as (
    select * from {{ ref('hcat', 'int_metrics_numbered') }}
),

evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
),

interactions as (
    select * from {{ ref('hcat', 'int_interactions_numbered') }}
),

documents as (
    select * from {{ ref('hcat', 'int_cell_documents') }}
),

interaction_cells as (
    select * from {{ ref('hcat', 'int_interactions_celled') }}
),

-- most metrics have one threshold for all; of the others each cell has its own
own_thresholds as (
    select metrics.metric_number, interaction_cells.cell_number, max(evaluations.threshold) as threshold
    from evaluations
    inner join metrics on evaluations.metric_name = metrics.metric_name
    inner join interactions on evaluations.interaction_id = interactions.interaction_id
    inner join interaction_cells on interactions.interaction_number = interaction_cells.interaction_number
    where not metrics.has_one_threshold
    group by metrics.metric_number, interaction_cells.cell_number
),

estimates_pivoted as (
    select
        cell_id,
        max(clusters_effective) filter (where measurement = 'mean_score') as clusters_effective,
        max(value) filter (where measurement = 'mean_score') as mean_score,
        max(standard_deviation) filter (where measurement = 'mean_score') as standard_deviation,
        max(value) filter (where measurement = 'share_failing') as share_failing,
        max(value) filter (where measurement = 'share_failing_of_all') as share_failing_of_all
    from estimates
    group by cell_id
),

quantiles_pivoted as (
    select
        {%- for quantile in ['05', '25', '50', '75', '95'] %}
        max(score) filter (where quantile = 0.{{ quantile }}) as quantile_{{ quantile }},
        {%- endfor %}
        metric_number,
        cell_number
    from quantiles
    group by metric_number, cell_number
),

counted as (
    select
        {{ cell_id('metrics.metric_name', 'cells') }} as cell_id,
        metrics.metric_name,
        cells.first_dimension,
        cells.first_segment,
        cells.second_dimension,
        cells.second_segment,
        totals.metric_number,
        totals.cell_number,
        totals.count_interactions::bigint as count_interactions,
        totals.count_scored::bigint as count_scored,
        totals.count_clusters::bigint as count_clusters,
        documents.count_documents::bigint as count_documents,
        case when metrics.has_one_threshold then metrics.threshold else own_thresholds.threshold end as threshold,
        case when totals.count_decided > 0 then totals.count_failing::bigint end as count_failing
    from totals
    inner join metrics on totals.metric_number = metrics.metric_number
    inner join cells on totals.cell_number = cells.cell_number
    left join documents on totals.cell_number = documents.cell_number
    left join own_thresholds
        on
            totals.metric_number = own_thresholds.metric_number
            and totals.cell_number = own_thresholds.cell_number
),

final as (
    select
        -- ids
        counted.cell_id,
        counted.metric_name,
        counted.first_dimension,
        counted.first_segment,
        counted.second_dimension,
        counted.second_segment,

        -- numerics
        counted.count_interactions,
        counted.count_scored,
        counted.count_clusters,
        counted.count_documents,
        estimates_pivoted.clusters_effective,
        estimates_pivoted.mean_score,
        estimates_pivoted.standard_deviation,
        quantiles_pivoted.quantile_05,
        quantiles_pivoted.quantile_25,
        quantiles_pivoted.quantile_50,
        quantiles_pivoted.quantile_75,
        quantiles_pivoted.quantile_95,
        counted.threshold,
        counted.count_failing,
        estimates_pivoted.share_failing,
        estimates_pivoted.share_failing_of_all
    from counted
    inner join estimates_pivoted on counted.cell_id = estimates_pivoted.cell_id
    left join quantiles_pivoted
        on
            counted.metric_number = quantiles_pivoted.metric_number
            and counted.cell_number = quantiles_pivoted.cell_number
)

select * from final
