{{ config(enabled=is_on('calibration')) }}
-- Every accepted rating has its row, and every label rests on at least one of them.
with ratings as (
    select count(*) as count_rows, 'ratings' as what from {{ ref('hcat', 'stg_ratings') }}
    union all
    select count(*) as count_rows, 'labels' as what from {{ ref('hcat', 'int_ratings_adjudicated') }}
    where label is not null
),

shown as (
    select count(*) as count_rows, 'ratings' as what from {{ ref('hcat', 'fct_ratings') }}
    union all
    select count(distinct interaction_id || '|' || criterion) as count_rows, 'labels' as what
    from {{ ref('hcat', 'fct_ratings') }}
    where human_label is not null
)

select ratings.what, ratings.count_rows, shown.count_rows as count_shown
from ratings
inner join shown on ratings.what = shown.what
where ratings.count_rows <> shown.count_rows
