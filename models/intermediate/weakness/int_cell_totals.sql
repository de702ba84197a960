-- One row per (metric, cell, half): counts and sums of a cell and of the rest of its partition, over all jackknife groups
-- and over those of one half.
{{ config(materialized='table') }}
{%- set measured = [
    ('count_scored', 'sum_scores'),
    ('count_decided', 'count_failing'),
    ('count_decided_of_all', 'count_failing_of_all')
] %}

with cell_sums as (
    select * from {{ ref('int_cell_sums') }}
),

partition_sums as (
    select * from {{ ref('int_partition_sums') }}
),

cell_sources as (
    select * from {{ ref('int_cell_sources') }}
),

cells as (
    select * from {{ ref('int_cells') }}
),

metrics as (
    select * from {{ ref('int_metrics_numbered') }}
),

-- every cell to which the metric applies, also without a score
applicable as (
    select
        metrics.metric_number,
        cell_sources.cell_number,
        cells.partition_number,
        coalesce(cell_sources.half, 'all') as half,
        sum(cell_sources.count_interactions)::bigint as count_interactions,
        sum(cell_sources.count_sources)::bigint as count_sources
    from cell_sources
    inner join metrics on cell_sources.scope_number = metrics.scope_number
    inner join cells on cell_sources.cell_number = cells.cell_number
    group by grouping sets (
        (metrics.metric_number, cell_sources.cell_number, cells.partition_number, cell_sources.half),
        (metrics.metric_number, cell_sources.cell_number, cells.partition_number)
    )
),

partition_totals as (
    select
        metric_number,
        partition_number,
        coalesce(half, 'all') as half
        {%- for count, sum in measured %},
        sum({{ count }})::bigint as {{ count }},
        sum({{ sum }}) as {{ sum }},
        count_if({{ count }} > 0)::bigint as {{ count }}_groups
        {%- endfor %}
    from partition_sums
    group by grouping sets ((metric_number, partition_number, half), (metric_number, partition_number))
),

located as (
    select cell_sums.*, cells.partition_number
    from cell_sums
    inner join cells on cell_sums.cell_number = cells.cell_number
),

cell_totals as (
    select
        located.metric_number,
        located.cell_number,
        coalesce(partition_sums.half, 'all') as half,
        sum(located.sum_squared_scores) as sum_squared_scores
        {%- for count, sum in measured %},
        sum(located.{{ count }})::bigint as {{ count }},
        sum(located.{{ sum }}) as {{ sum }},
        sum(located.{{ count }} * located.{{ count }}) as {{ count }}_squared,
        count_if(located.{{ count }} > 0)::bigint as {{ count }}_groups,
        -- groups that the rest does not have
        count_if(located.{{ count }} > 0 and located.{{ count }} = partition_sums.{{ count }})::bigint
            as {{ count }}_groups_alone
        {%- endfor %}
    from located
    inner join partition_sums
        on
            located.metric_number = partition_sums.metric_number
            and located.partition_number = partition_sums.partition_number
            and located.jackknife_group = partition_sums.jackknife_group
    group by grouping sets (
        (located.metric_number, located.cell_number, partition_sums.half),
        (located.metric_number, located.cell_number)
    )
),

final as (
    select
        applicable.metric_number,
        applicable.cell_number,
        applicable.partition_number,
        applicable.half,
        applicable.count_interactions,
        applicable.count_sources,
        coalesce(cell_totals.sum_squared_scores, 0) as sum_squared_scores
        {%- for count, sum in measured %},
        coalesce(cell_totals.{{ count }}, 0) as {{ count }},
        coalesce(cell_totals.{{ sum }}, 0) as {{ sum }},
        coalesce(cell_totals.{{ count }}_squared, 0) as {{ count }}_squared,
        coalesce(cell_totals.{{ count }}_groups, 0) as {{ count }}_groups,
        coalesce(partition_totals.{{ count }}, 0) - coalesce(cell_totals.{{ count }}, 0) as rest_{{ count }},
        coalesce(partition_totals.{{ sum }}, 0) - coalesce(cell_totals.{{ sum }}, 0) as rest_{{ sum }},
        coalesce(partition_totals.{{ count }}_groups, 0) - coalesce(cell_totals.{{ count }}_groups_alone, 0)
            as rest_{{ count }}_groups,
        coalesce(partition_totals.{{ count }}_groups, 0) as partition_{{ count }}_groups
        {%- endfor %}
    from applicable
    left join cell_totals
        on
            applicable.metric_number = cell_totals.metric_number
            and applicable.cell_number = cell_totals.cell_number
            and applicable.half = cell_totals.half
    left join partition_totals
        on
            applicable.metric_number = partition_totals.metric_number
            and applicable.partition_number = partition_totals.partition_number
            and applicable.half = partition_totals.half
)

select * from final
