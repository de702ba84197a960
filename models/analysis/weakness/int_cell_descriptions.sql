-- One row per (metric, cell), with its documents, its threshold and the quantiles of its scores.
{{ config(materialized='table') }}

with quantiles as (
    select *
    from {{ ref_if_on(
        'distributions', 'int_cell_quantiles', 'metric_number integer, cell_number bigint, quantile double, score double'
    ) }}
),

cells as (
    select * from {{ ref('hcat', 'int_metric_cells') }}
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

final as (
    select
        cells.cell_id,
        documents.count_documents::bigint as count_documents,
        case when metrics.has_one_threshold then metrics.threshold else own_thresholds.threshold end as threshold,
        quantiles_pivoted.quantile_05,
        quantiles_pivoted.quantile_25,
        quantiles_pivoted.quantile_50,
        quantiles_pivoted.quantile_75,
        quantiles_pivoted.quantile_95
    from cells
    inner join metrics on cells.metric_number = metrics.metric_number
    left join documents on cells.cell_number = documents.cell_number
    left join own_thresholds
        on
            cells.metric_number = own_thresholds.metric_number
            and cells.cell_number = own_thresholds.cell_number
    left join quantiles_pivoted
        on
            cells.metric_number = quantiles_pivoted.metric_number
            and cells.cell_number = quantiles_pivoted.cell_number
)

select * from final
