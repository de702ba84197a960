{{ config(enabled=is_on('robustness')) }}
-- A system with pairs of chunks has rows of both metrics and both baselines. The baselines read every pair, so that a
-- metric has as many with and without a score. What disagrees is a part of what is ordered.
with measured as (
    select * from {{ ref('hcat', 'fct_metric_reliability') }}
    where measure in ('pairs_ordered', 'pairs_against_rank', 'pairs_against_words')
),

ordered as (
    select
        system,
        metric_name,
        count_answers + count_without_verdict + count_undecided as count_pairs
    from measured
    where measure = 'pairs_ordered'
),

by_system as (
    select
        system,
        count(*) as count_scorers,
        min(count_pairs) as least_pairs,
        max(count_pairs) as most_pairs
    from ordered
    group by system
)

select
    system,
    'not every scorer orders every pair' as problem
from by_system
where count_scorers <> 4 or least_pairs <> most_pairs
union all
select
    measured.system,
    'more disagreements than pairs, or none of pairs_ordered' as problem
from measured
left join ordered on measured.system = ordered.system and measured.metric_name = ordered.metric_name
where
    ordered.metric_name is null
    or measured.count_answers + measured.count_without_verdict + measured.count_undecided > ordered.count_pairs
