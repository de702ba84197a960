with described as (
    select * from {{ ref('hcat', 'int_cell_descriptions') }}
),

tested as (
    select * from {{ ref('hcat', 'int_weaknesses_tested') }}
),

headline as (
    select distinct metric_name from {{ seed('headline_cells') }}
),

-- shrunken differences of cells with some scored clusters: a cell of two rows must not come first by luck
cells as (
    select
        tested.cell_id,
        tested.metric_name,
        tested.first_dimension,
        tested.first_segment,
        tested.second_dimension,
        tested.second_segment,
        tested.measurement,
        tested.count_scored,
        tested.count_clusters,
        described.count_documents,
        tested.count_failing,
        tested.value,
        tested.rest_value,
        tested.difference,
        tested.is_weak,
        (tested.shrunken_value - tested.rest_value)
        * case when tested.value > tested.rest_value then 1 else 0 - 1 end as shrunken_difference
    from tested
    inner join described on tested.cell_id = described.cell_id
    inner join headline on tested.metric_name = headline.metric_name
    where
        tested.difference > 0
        and tested.first_dimension <> 'all'
        and tested.clusters_effective >= {{ var('hcat_headline_clusters') }}
),

ranked as (
    select
        *,
        row_number() over (order by shrunken_difference desc, difference desc, cell_id asc) as reading_rank
    from cells
),

final as (
    select
        -- ids
        cell_id as weakness_id,
        metric_name,
        first_dimension,
        first_segment,
        second_dimension,
        second_segment,

        -- strings
        measurement,

        -- numerics
        reading_rank::bigint as reading_rank,
        count_scored,
        count_clusters,
        count_documents,
        count_failing,
        value,
        rest_value,
        difference,
        shrunken_difference,

        -- booleans
        is_weak
    from ranked
    where reading_rank <= {{ var('hcat_cells_to_read') }}
)

select * from final
