{{ config(enabled=is_on('distributions')) }}
-- The shape of the scores of one metric by segment: one row per (segment, slice between two neighbouring quantiles).
-- density is the share of scores in the slice per unit of score, which is the half width of a violin at the middle of
-- the slice. A slice without width contains equal scores: share_of_scores has their share, and density is null.
{%- set metric_name = 'support_words' %}
{%- set dimension = 'topic' %}

with distributions as (
    select segment, count_scored, quantile, score
    from {{ ref('hcat', 'fct_score_distributions') }}
    where metric_name = '{{ metric_name }}' and dimension = '{{ dimension }}'
),

slices as (
    select
        segment,
        count_scored,
        quantile,
        score,
        lead(quantile) over (partition by segment order by quantile) as next_quantile,
        lead(score) over (partition by segment order by quantile) as next_score
    from distributions
)

select
    segment,
    count_scored,
    quantile as from_quantile,
    next_quantile as to_quantile,
    score as from_score,
    next_score as to_score,
    (score + next_score) / 2 as middle_score,
    next_quantile - quantile as share_of_scores,
    (next_quantile - quantile) / nullif(next_score - score, 0) as density
from slices
where next_quantile is not null
order by segment, from_quantile
