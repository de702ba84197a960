-- One row per (gap, source) with the sums of scores of either side. Where a system has more sources than blocks, whole
-- sources share a block: they then change sides together, which keeps the test valid and bounds its cost.
{{ config(materialized='table') }}

with scores as (
    select * from {{ ref('int_bias_scores') }}
),

differences as (
    select * from {{ ref('int_counterfactual_differences') }}
),

cells as (
    select * from {{ ref('int_bias_cells') }}
),

system_sources as (
    select system, count(distinct source_group) as count_sources
    from scores
    group by system
),

numbered as (
    select distinct
        scores.system,
        scores.source_group,
        system_sources.count_sources,
        {{ share_of_hash("'bias|' || scores.source_group") }} as share
    from scores
    inner join system_sources on scores.system = system_sources.system
),

sources as (
    select
        system,
        source_group,
        case
            when count_sources > {{ var('hcat_bias_blocks') }}
                then 'block ' || floor(share * {{ var('hcat_bias_blocks') }})::integer
            else source_group
        end as source
    from numbered
),

paired as (
    select
        cells.bias_gap_id,
        sources.source,
        {{ exact_sum('differences.first_score') }} as first_sum,
        count(*) as first_count,
        {{ exact_sum('differences.second_score') }} as second_sum,
        count(*) as second_count
    from cells
    inner join differences
        on
            cells.system = differences.system
            and cells.attribute = differences.dimension
            and cells.metric_name = differences.metric_name
    inner join sources
        on differences.system = sources.system and differences.source_group = sources.source_group
    where cells.design = 'counterfactual'
    group by cells.bias_gap_id, sources.source
),

-- variants of a test set ask for somebody who is made up: they are no traffic of a group
grouped as (
    select
        scores.system,
        scores.metric_name,
        scores.customer_group,
        sources.source,
        sum({{ in_billionths('scores.score') }}) as billionths,
        count(*) as count_scores
    from scores
    inner join sources on scores.system = sources.system and scores.source_group = sources.source_group
    where scores.is_original and scores.customer_group is not null
    group by scores.system, scores.metric_name, scores.customer_group, sources.source
),

unpaired as (
    select
        cells.bias_gap_id,
        grouped.source,
        coalesce(
            sum(case when grouped.customer_group = cells.first_segment then grouped.billionths end), 0
        )::double / 1e9 as first_sum,
        coalesce(sum(case when grouped.customer_group = cells.first_segment then grouped.count_scores end), 0)
            as first_count,
        coalesce(
            sum(case when grouped.customer_group <> cells.first_segment then grouped.billionths end), 0
        )::double / 1e9 as second_sum,
        coalesce(sum(case when grouped.customer_group <> cells.first_segment then grouped.count_scores end), 0)
            as second_count
    from cells
    inner join grouped on cells.system = grouped.system and cells.metric_name = grouped.metric_name
    where cells.design = 'logged_groups'
    group by cells.bias_gap_id, grouped.source
),

final as (
    select
        bias_gap_id,
        source,
        first_sum::double as first_sum,
        first_count::double as first_count,
        second_sum::double as second_sum,
        second_count::double as second_count
    from paired
    union all
    select
        bias_gap_id,
        source,
        first_sum::double as first_sum,
        first_count::double as first_count,
        second_sum::double as second_sum,
        second_count::double as second_count
    from unpaired
)

select * from final
