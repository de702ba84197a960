-- One row per cell of the headline family: the cells of the seed that have clusters enough, those with most clusters
-- first. No score has a say in the choice.
{{ config(materialized='table') }}

with headline as (
    select * from {{ seed('headline_cells') }}
),

rules as (
    select * from {{ seed('weakness_rules') }}
),

metrics as (
    select * from {{ ref('hcat', 'int_metrics_numbered') }}
),

cells as (
    select * from {{ ref('hcat', 'int_cells') }}
),

evaluations as (
    select * from {{ ref('hcat', 'int_evaluations_numbered') }}
),

interactions as (
    select * from {{ ref('hcat', 'int_interactions_numbered') }}
),

celled as (
    select * from {{ ref('hcat', 'int_interactions_celled') }}
),

-- a dimension that is made of the metric is no headline
declared as (
    select distinct
        headline.metric_name,
        rules.measurement,
        headline.first_dimension,
        case
            when headline.third_dimension is null then headline.second_dimension
            else headline.second_dimension || ' x ' || headline.third_dimension
        end as second_dimension
    from headline
    inner join rules on headline.metric_name = rules.metric_name
    where
        instr('|' || coalesce(rules.excluded_dimensions, '') || '|', '|' || headline.first_dimension || '|') = 0
        and instr(
            '|' || coalesce(rules.excluded_dimensions, '') || '|',
            '|' || coalesce(headline.second_dimension, 'none') || '|'
        ) = 0
        and instr(
            '|' || coalesce(rules.excluded_dimensions, '') || '|',
            '|' || coalesce(headline.third_dimension, 'none') || '|'
        ) = 0
),

candidates as (
    select
        metrics.metric_number,
        declared.metric_name,
        declared.measurement,
        cells.cell_number,
        cells.partition_number,
        {{ cell_id('declared.metric_name', 'cells') }} as cell_id
    from declared
    inner join metrics on declared.metric_name = metrics.metric_name
    inner join cells
        on
            declared.first_dimension = cells.first_dimension
            and coalesce(declared.second_dimension, '') = coalesce(cells.second_dimension, '')
),

partitions as (
    select distinct metric_number, measurement, partition_number from candidates
),

located as (
    select
        partitions.partition_number,
        celled.cell_number,
        interactions.cluster_number,
        interactions.jackknife_group
    from partitions
    inner join cells on partitions.partition_number = cells.partition_number
    inner join celled on cells.cell_number = celled.cell_number
    inner join interactions on celled.interaction_number = interactions.interaction_number
    inner join evaluations
        on
            celled.interaction_number = evaluations.interaction_number
            and partitions.metric_number = evaluations.metric_number
    where
        case
            when partitions.measurement = 'share_failing' then evaluations.failing
            when partitions.measurement = 'share_failing_of_all' then evaluations.failing_of_all
            else evaluations.whole_score
        end is not null
),

groups_of_cells as (
    select
        partition_number,
        cell_number,
        jackknife_group,
        count(*) as count_rows,
        count(distinct cluster_number) as count_clusters
    from located
    group by partition_number, cell_number, jackknife_group
),

groups_of_partitions as (
    select
        *,
        sum(count_rows) over (partition by partition_number, jackknife_group) as count_rows_partition
    from groups_of_cells
),

-- a group that lies wholly in the cell says nothing of its rest
cells_counted as (
    select
        partition_number,
        cell_number,
        sum(count_clusters) as count_clusters,
        count(*) as count_groups,
        count_if(count_rows = count_rows_partition) as count_groups_alone
    from groups_of_partitions
    group by partition_number, cell_number
),

partitions_counted as (
    select partition_number, count(distinct jackknife_group) as count_groups
    from groups_of_cells
    group by partition_number
),

ranked as (
    select
        candidates.*,
        cells_counted.count_clusters,
        row_number() over (order by cells_counted.count_clusters desc, candidates.cell_id asc) as headline_rank
    from candidates
    inner join cells_counted on candidates.cell_number = cells_counted.cell_number
    inner join partitions_counted on candidates.partition_number = partitions_counted.partition_number
    where
        cells_counted.count_groups >= {{ var('hcat_headline_clusters') }}
        and partitions_counted.count_groups - cells_counted.count_groups_alone >= {{ var('hcat_headline_clusters') }}
),

final as (
    select
        cell_id,
        metric_name,
        measurement,
        metric_number,
        cell_number,
        partition_number,
        count_clusters::bigint as count_clusters,
        headline_rank::bigint as headline_rank
    from ranked
    where headline_rank <= {{ var('hcat_headline_cells') }}
)

select * from final
