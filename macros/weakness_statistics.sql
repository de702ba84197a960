{#
    Statistics of one metric in one cell, from rows already summed by source group: the CTEs of both weakness marts.
    cell_columns name the cell; the CTE `scores` has them, source_group, raw_score, threshold, is_failing and
    is_failing_of_all.
    Siblings are not independent: intervals use the Kish effective number of sources, (sum n)^2 / sum n^2.
#}
{% macro weakness_statistics(cell_columns) %}
    {%- set cell = cell_columns | join(', ') -%}
    by_source as (
        select
            {{ cell }},
            source_group,
            count(raw_score) as count_scored,
            count(is_failing) as count_decided
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
            {{ exact_mean('raw_score') }} as mean_score,
            {{ exact_standard_deviation('raw_score') }} as standard_deviation,
            -- one list: five separate quantiles would hold the scores five times
            quantile_cont(raw_score, [0.05, 0.25, 0.5, 0.75, 0.95]) as quantiles,
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
            described.quantiles[1] as quantile_05,
            described.quantiles[2] as quantile_25,
            described.quantiles[3] as quantile_50,
            described.quantiles[4] as quantile_75,
            described.quantiles[5] as quantile_95,
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
