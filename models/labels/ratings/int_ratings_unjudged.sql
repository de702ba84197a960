-- One row per (criterion, rater, kind of rater) with the number of answers that the rater read in the first pass and
-- could not judge.
{{ config(materialized='view') }}
select
    criterion,
    rater,
    rater_kind,
    count(*) as count_cannot_judge
from {{ ref('hcat', 'stg_ratings__cannot_judge') }}
where rating_pass = 1
group by criterion, rater, rater_kind
