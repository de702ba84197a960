-- One row per (metric, cell) that contains an interaction to which the metric applies, with names, interactions and
-- their clusters. Metrics of one scope apply to the same interactions, which are counted once.
{{ config(materialized='table') }}

with evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
),

metrics as (
    select * from {{ ref('hcat', 'int_metrics_numbered') }}
),

interactions as (
    select * from {{ ref('hcat', 'int_interactions_numbered') }}
),

celled as (
    select * from {{ ref('hcat', 'int_interactions_celled') }}
),

cells as (
    select * from {{ ref('hcat', 'int_cells') }}
),

scopes as (
    select metric_name, scope_number
    from metrics
    where metric_number = scope_number
),

in_scope as (
    select scopes.scope_number, interactions.interaction_number, interactions.cluster_number, interactions.half
    from evaluations
    inner join scopes on evaluations.metric_name = scopes.metric_name
    inner join interactions on evaluations.interaction_id = interactions.interaction_id
),

located as (
    select in_scope.scope_number, in_scope.half, in_scope.cluster_number, celled.cell_number
    from in_scope
    inner join celled on in_scope.interaction_number = celled.interaction_number
),

interactions_counted as (
    select scope_number, cell_number, count(*) as count_interactions
    from located
    group by scope_number, cell_number
),

-- selecting the distinct cells of a cluster takes half the time of counting the distinct clusters of a cell
cells_of_clusters as (
    select scope_number, half, {{ explode('array_agg(distinct cell_number)') }} as cell_number
    from located
    group by scope_number, half, cluster_number
),

clusters_counted as (
    select
        scope_number,
        cell_number,
        count(*) as count_clusters,
        count_if(half = 'first')::bigint as count_clusters_first,
        count_if(half = 'second')::bigint as count_clusters_second
    from cells_of_clusters
    group by scope_number, cell_number
),

final as (
    select
        {{ cell_id('metrics.metric_name', 'cells') }} as cell_id,
        metrics.metric_name,
        cells.first_dimension,
        cells.first_segment,
        cells.second_dimension,
        cells.second_segment,
        metrics.metric_number,
        metrics.scores_per_unit,
        cells.cell_number,
        cells.partition_number,
        interactions_counted.count_interactions,
        clusters_counted.count_clusters,
        clusters_counted.count_clusters_first,
        clusters_counted.count_clusters_second
    from interactions_counted
    inner join clusters_counted
        on
            interactions_counted.scope_number = clusters_counted.scope_number
            and interactions_counted.cell_number = clusters_counted.cell_number
    inner join metrics on interactions_counted.scope_number = metrics.scope_number
    inner join cells on interactions_counted.cell_number = cells.cell_number
)

select * from final
