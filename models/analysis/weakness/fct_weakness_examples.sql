with tested as (
    select * from {{ ref('hcat', 'int_weaknesses_tested') }}
    where test_status = 'tested'
),

cells as (
    select * from {{ ref('hcat', 'int_metric_cells') }}
),

catalog as (
    select metric_name, direction from {{ ref('hcat', 'int_metric_catalog') }}
),

evaluations as (
    select * from {{ ref('hcat', 'int_evaluations_numbered') }}
    where raw_score is not null
),

interactions as (
    select interaction_id, interaction_number, row_number() over (order by interaction_id) as position
    from {{ ref('hcat', 'int_interactions_numbered') }}
),

memberships as (
    select * from {{ ref('hcat', 'int_interactions_celled') }}
),

numbered as (
    select
        tested.*,
        cells.metric_number,
        cells.cell_number,
        case when catalog.direction = 'higher_is_better' then 1 else 0 - 1 end as score_sign
    from tested
    inner join cells on tested.cell_id = cells.cell_id
    inner join catalog on tested.metric_name = catalog.metric_name
),

-- by position in the order of ids: equal scores are listed in that order, and numbers are faster than texts
positioned as (
    select
        evaluations.metric_number,
        evaluations.interaction_number,
        evaluations.raw_score,
        evaluations.failing,
        interactions.position,
        interactions.interaction_id
    from evaluations
    inner join interactions on evaluations.interaction_number = interactions.interaction_number
    where evaluations.metric_number in (select numbered.metric_number from numbered)
),

-- keeping only the few smallest of each cell while reading takes a tenth of the time of sorting all rows
worst as (
    select
        numbered.metric_number,
        numbered.cell_number,
        {{ least_records(
            {'signed_score': 'positioned.raw_score * numbered.score_sign', 'position': 'positioned.position'},
            var('hcat_worst_examples')
        ) }} as examples
    from positioned
    inner join memberships on positioned.interaction_number = memberships.interaction_number
    inner join numbered
        on
            positioned.metric_number = numbered.metric_number
            and memberships.cell_number = numbered.cell_number
    group by numbered.metric_number, numbered.cell_number
),

listed as (
    select metric_number, cell_number, {{ explode('examples') }} as example
    from worst
),

final as (
    select
        -- ids
        md5(concat_ws('|', numbered.cell_id, positioned.interaction_id)) as weakness_example_id,
        numbered.cell_id as weakness_id,
        positioned.interaction_id,

        -- strings
        numbered.metric_name,
        numbered.first_dimension,
        numbered.first_segment,
        numbered.second_dimension,
        numbered.second_segment,

        -- numerics
        row_number() over (
            -- the linter takes fields of a record for columns of a table
            partition by numbered.cell_id order by listed.example.signed_score, listed.example.position  -- noqa: RF01
        )::bigint as rank,
        positioned.raw_score,

        -- booleans
        positioned.failing::boolean as is_failing
    from listed
    inner join numbered
        on listed.metric_number = numbered.metric_number and listed.cell_number = numbered.cell_number
    inner join positioned
        on
            listed.metric_number = positioned.metric_number
            and listed.example.position = positioned.position  -- noqa: RF01
)

select * from final
