-- One row per (cell, measurement, half): value, rest and difference with delete-a-group jackknife standard errors:
-- sqrt((G - 1) / G sum (estimate without the group - estimate)^2), G the groups of the cell for the value and those of
-- its partition for the difference, because a group leaves cell and rest together. A standard error needs two groups in
-- the cell, that of the difference two in the rest as well.
{{ config(materialized='table') }}
{#- measurement, what it is divided by, what is summed, whole numbers per unit of the sum, parts per square of one #}
{%- set measured = [
    ('mean_score', 'count_scored', 'sum_scores', 'metrics.scores_per_unit', '1e6'),
    ('share_failing', 'count_decided', 'count_failing', '1', '1e24'),
    ('share_failing_of_all', 'count_decided_of_all', 'count_failing_of_all', '1', '1e24')
] %}

with cell_sums as (
    select * from {{ ref('hcat', 'int_cell_sums') }}
),

partition_sums as (
    select * from {{ ref('hcat', 'int_partition_sums') }}
),

totals as (
    select * from {{ ref('hcat', 'int_cell_totals') }}
),

cells as (
    select * from {{ ref('hcat', 'int_cells') }}
),

metrics as (
    select * from {{ ref('hcat', 'int_metrics_numbered') }}
),

-- a row for every group of the partition: leaving out a group that is not in the cell changes the rest too
group_sums as (
    select
        {%- for measurement, count, sum, unit, parts in measured %}
        coalesce(cell_sums.{{ count }}, 0)::double as {{ count }},
        coalesce(cell_sums.{{ sum }}, 0)::double as {{ sum }},
        (partition_sums.{{ count }} - coalesce(cell_sums.{{ count }}, 0))::double as rest_{{ count }},
        (partition_sums.{{ sum }} - coalesce(cell_sums.{{ sum }}, 0))::double as rest_{{ sum }},
        {%- endfor %}
        totals.metric_number,
        totals.cell_number,
        partition_sums.half
    from totals
    inner join partition_sums
        on
            totals.metric_number = partition_sums.metric_number
            and totals.partition_number = partition_sums.partition_number
    left join cell_sums
        on
            totals.metric_number = cell_sums.metric_number
            and totals.cell_number = cell_sums.cell_number
            and partition_sums.jackknife_group = cell_sums.jackknife_group
    where totals.half = 'all'
),

-- whole numbers as doubles, which divide
divisible as (
    select
        {%- for measurement, count, sum, unit, parts in measured %}
        {{ count }}::double as {{ count }},
        {{ sum }}::double as {{ sum }},
        rest_{{ count }}::double as rest_{{ count }},
        rest_{{ sum }}::double as rest_{{ sum }},
        {%- endfor %}
        metric_number,
        cell_number,
        half
    from totals
),

-- each group leaves all groups, and the groups of its half
squared as (
    select
        {%- for measurement, count, sum, unit, parts in measured %}
        {%- for scope in ['all_totals', 'half_totals'] %}
        {%- set value = '(' ~ jackknife_deviation(scope, 'group_sums', sum, count) ~ ')' %}
        {%- set rest = '(' ~ jackknife_deviation(scope, 'group_sums', 'rest_' ~ sum, 'rest_' ~ count) ~ ')' %}
        {{ exact_sum_of_squares(value, parts) }} as {{ measurement }}_value_{{ scope }},
        {{ exact_sum_of_squares(value ~ ' - ' ~ rest, parts) }}
            as {{ measurement }}_difference_{{ scope }},
        {%- endfor %}
        {%- endfor %}
        group_sums.metric_number,
        group_sums.cell_number,
        group_sums.half
    from group_sums
    inner join divisible as all_totals
        on
            group_sums.metric_number = all_totals.metric_number
            and group_sums.cell_number = all_totals.cell_number
            and all_totals.half = 'all'
    left join divisible as half_totals
        on
            group_sums.metric_number = half_totals.metric_number
            and group_sums.cell_number = half_totals.cell_number
            and group_sums.half = half_totals.half
    group by group_sums.metric_number, group_sums.cell_number, group_sums.half
),

squares as (
    select
        {%- for measurement, count, sum, unit, parts in measured %}
        {{ measurement }}_value_half_totals as {{ measurement }}_value,
        {{ measurement }}_difference_half_totals as {{ measurement }}_difference,
        {%- endfor %}
        metric_number,
        cell_number,
        half
    from squared
    union all
    select
        {%- for measurement, count, sum, unit, parts in measured %}
        sum({{ measurement }}_value_all_totals) as {{ measurement }}_value,
        sum({{ measurement }}_difference_all_totals) as {{ measurement }}_difference,
        {%- endfor %}
        metric_number,
        cell_number,
        'all' as half
    from squared
    group by metric_number, cell_number
),

measurements as (
    {%- for measurement, count, sum, unit, parts in measured %}
    select
        totals.metric_number,
        totals.cell_number,
        '{{ measurement }}' as measurement,
        totals.half,
        totals.count_interactions,
        totals.count_clusters,
        totals.{{ count }}::bigint as count_scored,
        totals.{{ count }}_groups as count_jackknife_groups,
        totals.{{ count }}::double * totals.{{ count }} / nullif(totals.{{ count }}_squared, 0)
            as clusters_effective,
        totals.{{ count }}_largest::double / nullif(totals.{{ count }}, 0) as largest_share,
        {%- if sum == 'sum_scores' %}
        null::double as clusters_carrying,
        {%- else %}
        -- Kish's number of the groups with a failure, or of those with a pass, the smaller of both
        least(
            {%- for suffix in ['', '_passing'] %}
            coalesce(
                totals.{{ sum }}_rows{{ suffix }}::double * totals.{{ sum }}_rows{{ suffix }}
                / nullif(totals.{{ sum }}_squared{{ suffix }}, 0),
                0
            ){{ ',' if not loop.last }}
            {%- endfor %}
        ) as clusters_carrying,
        {%- endif %}
        totals.{{ sum }}::double / {{ unit }} / nullif(totals.{{ count }}, 0) as value,
        sqrt(
            (
                {{ whole_number('totals.' ~ count) }}
                * totals.{{ 'sum_squared_scores' if sum == 'sum_scores' else sum }}
                - {{ whole_number('totals.' ~ sum) }} * totals.{{ sum }}
            )::double
            / nullif(totals.{{ count }} * (totals.{{ count }} - 1), 0)
        ) / {{ unit }} as standard_deviation,
        (totals.{{ count }}_groups - 1) / nullif(totals.{{ count }}_groups, 0)
        * squares.{{ measurement }}_value / {{ unit }} / {{ unit }} as variance,
        totals.rest_{{ sum }}::double / {{ unit }} / nullif(totals.rest_{{ count }}, 0) as rest_value,
        totals.rest_{{ count }} as count_scored_rest,
        totals.rest_{{ count }}_groups as jackknife_groups_rest,
        (totals.partition_{{ count }}_groups - 1) / nullif(totals.partition_{{ count }}_groups, 0)
        * squares.{{ measurement }}_difference / {{ unit }} / {{ unit }} as difference_variance
    from totals
    inner join metrics on totals.metric_number = metrics.metric_number
    left join squares
        on
            totals.metric_number = squares.metric_number
            and totals.cell_number = squares.cell_number
            and totals.half = squares.half
    {{ 'union all' if not loop.last }}
    {%- endfor %}
),

final as (
    select
        -- ids
        {{ cell_id('metrics.metric_name', 'cells') }} as cell_id,
        metrics.metric_name,
        cells.first_dimension,
        cells.first_segment,
        cells.second_dimension,
        cells.second_segment,

        -- strings
        measurements.measurement,
        measurements.half,

        -- numerics
        measurements.count_interactions,
        measurements.count_scored,
        measurements.count_clusters,
        measurements.count_jackknife_groups,
        measurements.clusters_effective,
        measurements.clusters_carrying,
        measurements.largest_share,
        measurements.value,
        measurements.standard_deviation,
        case when measurements.count_jackknife_groups > 1 then sqrt(measurements.variance) end as standard_error,
        measurements.rest_value,
        measurements.count_scored_rest,
        measurements.jackknife_groups_rest,
        measurements.value - measurements.rest_value as difference,
        case
            when measurements.count_jackknife_groups > 1 and measurements.jackknife_groups_rest > 1
                then sqrt(measurements.difference_variance)
        end as difference_standard_error,
        measurements.clusters_effective - 1 as degrees_of_freedom
    from measurements
    inner join metrics on measurements.metric_number = metrics.metric_number
    inner join cells on measurements.cell_number = cells.cell_number
)

select * from final
