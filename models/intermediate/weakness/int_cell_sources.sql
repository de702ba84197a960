-- One row per (scope, cell, half): interactions and their sources. A scope are all metrics that apply to the same
-- interactions.
{{ config(materialized='table') }}

with evaluations as (
    select * from {{ ref('int_primary_evaluations') }}
),

metrics as (
    select * from {{ ref('int_metrics_numbered') }}
),

interactions as (
    select * from {{ ref('int_interactions_numbered') }}
),

celled as (
    select * from {{ ref('int_interactions_celled') }}
),

scopes as (
    select metric_name, scope_number
    from metrics
    where metric_number = scope_number
),

in_scope as (
    select scopes.scope_number, interactions.interaction_number, interactions.source_number, interactions.half
    from evaluations
    inner join scopes on evaluations.metric_name = scopes.metric_name
    inner join interactions on evaluations.interaction_id = interactions.interaction_id
),

by_source as (
    select
        in_scope.scope_number,
        celled.cell_number,
        in_scope.half,
        in_scope.source_number,
        count(*) as count_interactions
    from in_scope
    inner join celled on in_scope.interaction_number = celled.interaction_number
    group by in_scope.scope_number, celled.cell_number, in_scope.half, in_scope.source_number
),

final as (
    select
        scope_number,
        cell_number,
        half,
        sum(count_interactions)::bigint as count_interactions,
        count(*) as count_sources
    from by_source
    group by scope_number, cell_number, half
)

select * from final
