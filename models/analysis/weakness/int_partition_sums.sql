-- One row per (metric, partition, jackknife group): the same sums over all cells of a partition.
{{ config(materialized='table') }}

with cell_sums as (
    select * from {{ ref('hcat', 'int_cell_sums') }}
),

cells as (
    select * from {{ ref('hcat', 'int_cells') }}
),

clusters as (
    select * from {{ ref('hcat', 'int_clusters_bucketed') }}
),

group_halves as (
    select distinct jackknife_group, half from clusters
),

summed as (
    select
        cell_sums.metric_number,
        cells.partition_number,
        cell_sums.jackknife_group,
        sum(cell_sums.count_scored)::bigint as count_scored,
        sum(cell_sums.sum_scores) as sum_scores,
        sum(cell_sums.count_decided)::bigint as count_decided,
        sum(cell_sums.count_failing)::bigint as count_failing,
        sum(cell_sums.count_decided_of_all)::bigint as count_decided_of_all,
        sum(cell_sums.count_failing_of_all)::bigint as count_failing_of_all
    from cell_sums
    inner join cells on cell_sums.cell_number = cells.cell_number
    group by cell_sums.metric_number, cells.partition_number, cell_sums.jackknife_group
),

final as (
    select summed.*, group_halves.half
    from summed
    inner join group_halves on summed.jackknife_group = group_halves.jackknife_group
)

select * from final
