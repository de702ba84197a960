-- Worst interactions of each tested cell: a person reads these before looking further.
{%- set count_examples = 5 %}

with tested as (
    select * from {{ ref('hcat', 'int_weaknesses_tested') }}
    where test_status = 'tested'
),

metric_cells as (
    select cell_id, cell_key from {{ ref('hcat', 'int_metric_cells') }}
),

catalog as (
    select metric_name, direction from {{ ref('hcat', 'int_metric_catalog') }}
),

evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
    where raw_score is not null and is_in_release_population
),

memberships as (
    select interaction_id, cell_key from {{ ref('hcat', 'int_interaction_cells') }}
),

signed as (
    select
        tested.*,
        metric_cells.cell_key,
        case when catalog.direction = 'higher_is_better' then 1 else 0 - 1 end as score_sign
    from tested
    inner join metric_cells on tested.cell_id = metric_cells.cell_id
    inner join catalog on tested.metric_name = catalog.metric_name
),

-- keeping only the few smallest of each cell while reading takes a tenth of the time of sorting all rows
worst as (
    select
        signed.cell_id,
        {{ least_records(
            {
                'signed_score': 'evaluations.raw_score * signed.score_sign',
                'interaction_id': 'evaluations.interaction_id',
                'is_failing': 'evaluations.is_failing'
            },
            count_examples
        ) }} as examples
    from evaluations
    inner join memberships on evaluations.interaction_id = memberships.interaction_id
    inner join signed
        on evaluations.metric_name = signed.metric_name and memberships.cell_key = signed.cell_key
    group by signed.cell_id
),

listed as (
    select cell_id, {{ explode('examples') }} as example
    from worst
),

final as (
    select
        -- ids
        md5(concat_ws('|', signed.cell_id, listed.example.interaction_id)) as weakness_example_id,  -- noqa: RF01
        signed.cell_id as weakness_id,
        -- the linter takes fields of a record for columns of a table
        listed.example.interaction_id,  -- noqa: RF01

        -- strings
        signed.metric_name,
        signed.first_dimension,
        signed.first_segment,
        signed.second_dimension,
        signed.second_segment,

        -- numerics
        row_number() over (
            partition by signed.cell_id
            order by listed.example.signed_score, listed.example.interaction_id  -- noqa: RF01
        )::bigint as rank,
        listed.example.signed_score * signed.score_sign as raw_score,  -- noqa: RF01

        -- booleans
        listed.example.is_failing  -- noqa: RF01
    from listed
    inner join signed on listed.cell_id = signed.cell_id
)

select * from final
