{{ config(enabled=is_on('robustness')) }}
-- A summary counts exactly the listed pairs, and each change is the difference of the two scores. Every metric that
-- could be evaluated has precision and recall.
with pairs as (
    select * from {{ ref('hcat', 'fct_robustness_pairs') }}
),

variants as (
    select * from {{ ref('hcat', 'fct_robustness_variants') }}
),

counted as (
    select
        system,
        variant_type,
        variant_meaning,
        metric_name,
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
union all
select concat_ws(' ', system, metric_name) as id, 'not both measures' as problem
from {{ ref('hcat', 'fct_metric_reliability') }}
where measure in ('precision', 'recall')
group by system, metric_name
having count(distinct measure) <> 2 or count(*) <> 2
