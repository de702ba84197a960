{#
    Statistics of one metric in one cell, from rows already summed by source group: the CTEs of both weakness marts.
    cell_columns name the cell; the CTE `scores` has them, source_group, raw_score, is_failing and is_failing_of_all.
    Siblings are not independent: intervals use the Kish effective number of sources, (sum n)^2 / sum n^2.
#}
{% macro weakness_statistics(cell_columns) %}
    {%- set cell = cell_columns | join(', ') -%}
    by_source as (
        select
            {{ cell }},
            source_group,
            count(raw_score) as count_scored,
            count(*) as count_interactions,
            count(is_failing) as count_decided,
            count(is_failing_of_all) as count_decided_of_all
        from scores
        group by {{ cell }}, source_group
    ),

    effective as (
        select
            {{ cell }},
            count(*) as count_sources,
            sum(count_scored) * sum(count_scored) / nullif(sum(count_scored * count_scored), 0)::double as scored_effective,
            sum(count_decided) * sum(count_decided) / nullif(sum(count_decided * count_decided), 0)::double as decided_effective
        from by_source
        group by {{ cell }}
    ),

    described as (
        select
            {{ cell }},
            count(*) as count_interactions,
            count(raw_score) as count_scored,
            -- in order: the last bits of a sum depend on it, and a rerun must change nothing
            avg(raw_score order by raw_score) as mean_score,
            stddev_samp(raw_score order by raw_score) as standard_deviation,
            percentile_cont(0.05) within group (order by raw_score) as quantile_05,
            percentile_cont(0.25) within group (order by raw_score) as quantile_25,
            percentile_cont(0.50) within group (order by raw_score) as quantile_50,
            percentile_cont(0.75) within group (order by raw_score) as quantile_75,
            percentile_cont(0.95) within group (order by raw_score) as quantile_95,
            max(threshold) as threshold,
            sum(is_failing::integer) as count_failing,
            avg(is_failing::integer) as share_failing,
            avg(is_failing_of_all::integer) as share_failing_of_all
        from scores
        group by {{ cell }}
    ),

    measured as (
        select
            described.*,
            effective.count_sources,
            effective.scored_effective,
            effective.decided_effective,
            {{ wilson_bound('described.share_failing', 'effective.decided_effective', 'lower') }} as share_failing_lower,
            {{ wilson_bound('described.share_failing', 'effective.decided_effective', 'upper') }} as share_failing_upper,
            described.mean_score
            - {{ normal_quantile() }} * described.standard_deviation / sqrt(effective.scored_effective) as mean_score_lower,
            described.mean_score
            + {{ normal_quantile() }} * described.standard_deviation / sqrt(effective.scored_effective) as mean_score_upper,
            case
                when described.threshold is null then 'no_threshold'
                when described.count_scored = 0 then 'no_scores'
                else 'measured'
            end as failure_status,
            effective.count_sources < {{ var('hcat_minimum_segment_sources') }} as is_small
        from described
        inner join effective using ({{ cell }})
    )
{%- endmacro %}
