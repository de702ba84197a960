-- One row per (scope, cell, half), with interactions and their clusters. A scope is the set of metrics that apply to
-- the same interactions.
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
    select scope_number, cell_number, half, count(*) as count_interactions
    from located
    group by scope_number, cell_number, half
),

-- selecting the distinct cells of a cluster takes half the time of counting the distinct clusters of a cell
cells_of_clusters as (
    select scope_number, half, {{ explode('array_agg(distinct cell_number)') }} as cell_number
    from located
    group by scope_number, half, cluster_number
),

clusters_counted as (
    select scope_number, cell_number, half, count(*) as count_clusters
    from cells_of_clusters
    group by scope_number, cell_number, half
),

final as (
    select
        interactions_counted.scope_number,
        interactions_counted.cell_number,
        interactions_counted.half,
        interactions_counted.count_interactions,
        clusters_counted.count_clusters
    from interactions_counted
    inner join clusters_counted
        on
            interactions_counted.scope_number = clusters_counted.scope_number
            and interactions_counted.cell_number = clusters_counted.cell_number
            and interactions_counted.half = clusters_counted.half
)

select * from final
