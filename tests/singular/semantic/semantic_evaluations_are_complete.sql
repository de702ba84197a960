{{ config(enabled=is_on('semantic')) }}

-- Every evaluation has one row. Its key is then unique, because those of fct_evaluations and fct_interactions are
-- tested. To group all rows by it again takes longer than any other test of a large warehouse.
with joined as (
    select count(*) as count_rows from {{ ref('hcat', 'semantic_evaluations') }}
),

evaluations as (
    select count(*) as count_rows from {{ ref('hcat', 'fct_evaluations') }}
)

select
    joined.count_rows as count_joined,
    evaluations.count_rows as count_evaluations
from joined
cross join evaluations
where joined.count_rows <> evaluations.count_rows
