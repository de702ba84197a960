{{ config(enabled=is_on('robustness')) }}
-- What variants of queries and the reliability of metrics promise. A row names the broken promise and what breaks it.
{{ promises() }}

{% call promise('robustness_pairs_are_complete', ['fct_robustness_pairs', 'fct_robustness_variants']) %}
-- A summary counts exactly the listed pairs, and each change is the difference of the two scores.
with pairs as (
    select * from {{ ref('hcat', 'fct_robustness_pairs') }}
),

variants as (
    select * from {{ ref('hcat', 'fct_robustness_variants') }}
),

counted as (
    select
        system, variant_type, variant_meaning, metric_name,
        count(*) as count_pairs,
        count(*) filter (where outcome = 'broken') as count_broken,
        count(*) filter (where outcome = 'mended') as count_mended,
        avg(score_change) as mean_change
    from pairs
    group by system, variant_type, variant_meaning, metric_name
)

select concat_ws(' ', counted.system, counted.variant_type, counted.metric_name) as id, 'counts differ' as problem
from counted
full outer join variants
    on
        counted.system = variants.system
        and counted.variant_type = variants.variant_type
        and counted.variant_meaning = variants.variant_meaning
        and counted.metric_name = variants.metric_name
where
    counted.count_pairs is distinct from variants.count_pairs
    or counted.count_broken is distinct from variants.count_broken
    or counted.count_mended is distinct from variants.count_mended
    or (counted.mean_change is null) <> (variants.mean_change is null)
    or abs(counted.mean_change - variants.mean_change) > 1e-9
union all
select robustness_pair_id as id, 'a change without two scores, or of other size' as problem
from pairs
where
    (score_change is null) <> (parent_score is null or variant_score is null)
    or abs(abs(score_change) - abs(variant_score - parent_score)) > 1e-9
{% endcall %}

{% call promise('reliability_has_both_measures', ['fct_metric_reliability']) %}
-- Every metric that could be evaluated has precision and recall.
select concat_ws(' ', system, metric_name) as id, 'not both measures' as problem
from {{ ref('hcat', 'fct_metric_reliability') }}
where measure in ('precision', 'recall')
group by system, metric_name
having count(distinct measure) <> 2 or count(*) <> 2
{% endcall %}

{% call promise('chunk_orders_are_complete', ['fct_metric_reliability']) %}
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
    system as id,
    'not every scorer orders every pair' as problem
from by_system
where count_scorers <> 4 or least_pairs <> most_pairs
union all
select
    measured.system as id,
    'more disagreements than pairs, or none of pairs_ordered' as problem
from measured
left join ordered on measured.system = ordered.system and measured.metric_name = ordered.metric_name
where
    ordered.metric_name is null
    or measured.count_answers + measured.count_without_verdict + measured.count_undecided > ordered.count_pairs
{% endcall %}
