-- One row per (metric, cell, half), with counts and sums of a cell and of the rest of its partition, over the jackknife
-- groups of each half and over all. Every cell to which the metric applies has its three rows, even without a score.
{{ config(materialized='table') }}
{%- set measured = [
    ('count_scored', 'sum_scores'),
    ('count_decided', 'count_failing'),
    ('count_decided_of_all', 'count_failing_of_all')
] %}

with cell_sums as (
    select * from {{ ref('hcat', 'int_cell_sums') }}
),

partition_sums as (
    select * from {{ ref('hcat', 'int_partition_sums') }}
),

cell_clusters as (
    select * from {{ ref('hcat', 'int_cell_clusters') }}
),

cells as (
    select * from {{ ref('hcat', 'int_cells') }}
),

metrics as (
    select * from {{ ref('hcat', 'int_metrics_numbered') }}
),

metric_cells as (
    select distinct metrics.metric_number, metrics.scope_number, cell_clusters.cell_number, cells.partition_number
    from cell_clusters
    inner join metrics on cell_clusters.scope_number = metrics.scope_number
    inner join cells on cell_clusters.cell_number = cells.cell_number
),

expected as (
    select metric_cells.*, {{ explode(array_of(["'first'", "'second'"])) }} as half
    from metric_cells
),

located as (
    select cell_sums.*, cells.partition_number
    from cell_sums
    inner join cells on cell_sums.cell_number = cells.cell_number
),

cell_totals as (
    select
        {%- for count, sum in measured %}
        sum(located.{{ count }})::bigint as {{ count }},
        sum(located.{{ sum }}) as {{ sum }},
        sum(located.{{ count }} * located.{{ count }}) as {{ count }}_squared,
        count_if(located.{{ count }} > 0)::bigint as {{ count }}_groups,
        -- groups that the rest does not have
        count_if(located.{{ count }} > 0 and located.{{ count }} = partition_sums.{{ count }})::bigint
            as {{ count }}_groups_alone,
        max(located.{{ count }}) as {{ count }}_largest,
        {%- endfor %}
        {%- for count, sum in measured[1:] %}
        -- rows of the groups with a failure, and of those with a pass
        sum(case when located.{{ sum }} > 0 then located.{{ count }} end) as {{ sum }}_rows,
        sum(case when located.{{ sum }} > 0 then located.{{ count }} * located.{{ count }} end) as {{ sum }}_squared,
        sum(case when located.{{ sum }} < located.{{ count }} then located.{{ count }} end) as {{ sum }}_rows_passing,
        sum(case when located.{{ sum }} < located.{{ count }} then located.{{ count }} * located.{{ count }} end)
            as {{ sum }}_squared_passing,
        {%- endfor %}
        sum(located.sum_squared_scores) as sum_squared_scores,
        located.metric_number,
        located.cell_number,
        partition_sums.half
    from located
    inner join partition_sums
        on
            located.metric_number = partition_sums.metric_number
            and located.partition_number = partition_sums.partition_number
            and located.jackknife_group = partition_sums.jackknife_group
    group by located.metric_number, located.cell_number, partition_sums.half
),

partition_totals as (
    select
        {%- for count, sum in measured %}
        sum({{ count }})::bigint as {{ count }},
        sum({{ sum }}) as {{ sum }},
        count_if({{ count }} > 0)::bigint as {{ count }}_groups,
        {%- endfor %}
        metric_number,
        partition_number,
        half
    from partition_sums
    group by metric_number, partition_number, half
),

by_half as (
    select
        {%- for count, sum in measured %}
        coalesce(cell_totals.{{ count }}, 0) as {{ count }},
        coalesce(cell_totals.{{ sum }}, 0) as {{ sum }},
        coalesce(cell_totals.{{ count }}_squared, 0) as {{ count }}_squared,
        coalesce(cell_totals.{{ count }}_groups, 0) as {{ count }}_groups,
        coalesce(partition_totals.{{ count }}, 0) - coalesce(cell_totals.{{ count }}, 0) as rest_{{ count }},
        coalesce(partition_totals.{{ sum }}, 0) - coalesce(cell_totals.{{ sum }}, 0) as rest_{{ sum }},
        coalesce(partition_totals.{{ count }}_groups, 0) - coalesce(cell_totals.{{ count }}_groups_alone, 0)
            as rest_{{ count }}_groups,
        coalesce(partition_totals.{{ count }}_groups, 0) as partition_{{ count }}_groups,
        coalesce(cell_totals.{{ count }}_largest, 0) as {{ count }}_largest,
        {%- endfor %}
        {%- for count, sum in measured[1:] %}
        {%- for suffix in ['rows', 'squared', 'rows_passing', 'squared_passing'] %}
        coalesce(cell_totals.{{ sum }}_{{ suffix }}, 0) as {{ sum }}_{{ suffix }},
        {%- endfor %}
        {%- endfor %}
        coalesce(cell_totals.sum_squared_scores, 0) as sum_squared_scores,
        coalesce(cell_clusters.count_interactions, 0) as count_interactions,
        coalesce(cell_clusters.count_clusters, 0) as count_clusters,
        expected.metric_number,
        expected.cell_number,
        expected.partition_number,
        expected.half
    from expected
    left join cell_clusters
        on
            expected.scope_number = cell_clusters.scope_number
            and expected.cell_number = cell_clusters.cell_number
            and expected.half = cell_clusters.half
    left join cell_totals
        on
            expected.metric_number = cell_totals.metric_number
            and expected.cell_number = cell_totals.cell_number
            and expected.half = cell_totals.half
    left join partition_totals
        on
            expected.metric_number = partition_totals.metric_number
            and expected.partition_number = partition_totals.partition_number
            and expected.half = partition_totals.half
),

-- a cluster lies in one half and so does a jackknife group: everything adds up
halves as (
    select *, half as counted_as from by_half
    union all
    select *, 'all' as counted_as from by_half
),

final as (
    select
        {%- for count, sum in measured %}
        sum({{ count }})::bigint as {{ count }},
        sum({{ sum }}) as {{ sum }},
        sum({{ count }}_squared) as {{ count }}_squared,
        sum({{ count }}_groups)::bigint as {{ count }}_groups,
        sum(rest_{{ count }})::bigint as rest_{{ count }},
        sum(rest_{{ sum }}) as rest_{{ sum }},
        sum(rest_{{ count }}_groups)::bigint as rest_{{ count }}_groups,
        sum(partition_{{ count }}_groups)::bigint as partition_{{ count }}_groups,
        max({{ count }}_largest)::bigint as {{ count }}_largest,
        {%- endfor %}
        {%- for count, sum in measured[1:] %}
        {%- for suffix in ['rows', 'squared', 'rows_passing', 'squared_passing'] %}
        sum({{ sum }}_{{ suffix }}) as {{ sum }}_{{ suffix }},
        {%- endfor %}
        {%- endfor %}
        sum(sum_squared_scores) as sum_squared_scores,
        sum(count_interactions)::bigint as count_interactions,
        sum(count_clusters)::bigint as count_clusters,
        metric_number,
        cell_number,
        partition_number,
        counted_as as half
    from halves
    group by metric_number, cell_number, partition_number, counted_as
)

select * from final
