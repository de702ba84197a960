-- One row per piece: the rows of the headline metric of one cluster that lie in the same headline cells, with their
-- number and sums. A higher value is worse. `cells` lists the headline cells as cell numbers, and a partition in whose
-- other cells the rows lie as its number with a minus.
{{ config(materialized='table') }}

with headline as (
    select * from {{ ref('hcat', 'int_headline_cells') }}
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

catalog as (
    select metric_name, direction from {{ ref('hcat', 'int_metric_catalog') }}
),

metrics as (
    select distinct
        headline.metric_number,
        headline.measurement,
        case when catalog.direction = 'higher_is_better' then 0 - 1 else 1 end as score_sign
    from headline
    inner join catalog on headline.metric_name = catalog.metric_name
),

valued as (
    select
        evaluations.interaction_number,
        case
            when metrics.measurement = 'share_failing' then evaluations.failing
            when metrics.measurement = 'share_failing_of_all' then evaluations.failing_of_all
            else evaluations.whole_score * metrics.score_sign
        end as value
    from evaluations
    inner join metrics on evaluations.metric_number = metrics.metric_number
),

partitions as (
    select distinct partition_number from headline
),

placed as (
    select
        celled.interaction_number,
        coalesce(headline.cell_number, 0 - partitions.partition_number) as place
    from partitions
    inner join cells on partitions.partition_number = cells.partition_number
    inner join celled on cells.cell_number = celled.cell_number
    left join headline on cells.cell_number = headline.cell_number
),

listed as (
    select interaction_number, {{ joined_text('place::string', "','", 'place') }} as cells
    from placed
    group by interaction_number
),

final as (
    select
        interactions.cluster_number,
        interactions.jackknife_group,
        coalesce(listed.cells, '') as cells,
        count(*)::bigint as count_rows,
        sum({{ whole_number('valued.value') }})::double as sum_values,
        sum({{ whole_number('valued.value') }} * valued.value)::double as sum_squares
    from valued
    inner join interactions on valued.interaction_number = interactions.interaction_number
    left join listed on valued.interaction_number = listed.interaction_number
    where valued.value is not null
    group by interactions.cluster_number, interactions.jackknife_group, listed.cells
)

select * from final
