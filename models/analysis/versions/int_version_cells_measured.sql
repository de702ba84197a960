-- The jackknife error leaves out whole clusters, and whole documents (two keys: Cameron, Gelbach and Miller 2011). A
-- query counts by its sampling weight.
{{ config(materialized='table') }}

with queries_paired as (
    select * from {{ ref('hcat', 'int_version_queries_paired') }}
),

segments as (
    select *, {{ hash_number('dimension, segment') }} as segment_key
    from {{ ref('hcat', 'int_version_segments_shared') }}
),

-- a query leaves with its cluster, with its document, and with what has both in common
keys as (
    {%- for kind, key in {
        'cluster': 'cluster_id', 'document': 'second_cluster_id', 'both': "cluster_id || '|' || second_cluster_id"
    }.items() %}
    select distinct cluster_id, second_cluster_id, '{{ kind }}' as kind, {{ key }} as key from queries_paired
    {{ 'union all' if not loop.last }}
    {%- endfor %}
),

counted_keys as (
    select kind, count(distinct key) as count_keys from keys
    group by kind
),

-- the keys of a test set are left out one by one, those of very large logs in hash buckets
groups as (
    select
        keys.cluster_id, keys.second_cluster_id, keys.kind,
        {{ hash_number(
            "case when counted_keys.count_keys <= 10000 then keys.key"
            ~ " else floor(" ~ share_of_hash("'hcat half|' || keys.key") ~ " * 128)::integer::string end"
        ) }} as jackknife_group
    from keys
    inner join counted_keys on keys.kind = counted_keys.kind
),

unpivoted as (
    {%- for name in ['mean_score', 'share_failing', 'share_failing_of_all'] %}
    select
        version_pair_id, query_key, metric_name, cluster_id, second_cluster_id,
        {{ whole_number('weight') }} as weight,
        '{{ name }}' as measurement,
        {{ hash_number("version_pair_id, metric_name, '" ~ name ~ "'") }} as series_key,
        baseline_{{ name }} as baseline_value,
        candidate_{{ name }} as candidate_value,
        {{ name }}_noise as noise,
        {{ name }}_noise_of_one as noise_of_one,
        {{ 'outcome_of_all' if name == 'share_failing_of_all' else 'outcome' }} as outcome
    from queries_paired
    {{ 'union all' if not loop.last }}
    {%- endfor %}
),

differences as (
    select
        unpivoted.*,
        case
            when unpivoted.measurement = 'mean_score' and metrics.direction = 'higher_is_better'
                then unpivoted.candidate_value - unpivoted.baseline_value
            else unpivoted.baseline_value - unpivoted.candidate_value
        end as difference
    from unpivoted
    inner join {{ ref('hcat', 'int_metric_catalog') }} as metrics on unpivoted.metric_name = metrics.metric_name
    where
        metrics.is_primary and unpivoted.baseline_value is not null and unpivoted.candidate_value is not null
),

-- sums are made by `cell_key`, a hash of the five names
placed as (
    select
        differences.cluster_id, differences.second_cluster_id, differences.weight, differences.baseline_value,
        differences.candidate_value, differences.difference, differences.noise, differences.noise_of_one,
        differences.outcome, {{ hash_number('differences.series_key, segments.segment_key') }} as cell_key
    from differences
    inner join segments
        on
            differences.version_pair_id = segments.version_pair_id
            and differences.query_key = segments.query_key
),

totals as (
    select
        cell_key,
        count(*) as count_pairs,
        {{ exact_sum('baseline_value * weight') }} / sum(weight) as baseline_value,
        {{ exact_sum('candidate_value * weight') }} / sum(weight) as candidate_value,
        {{ exact_sum('difference * weight') }} / sum(weight) as difference,
        sum(weight) as weight,
        {{ exact_mean('noise') }} as noise,
        {{ exact_sum('noise_of_one') }} / nullif(count(noise), 0) as noise_of_one,
        count(case when outcome = 'regression' then 1 end) as count_regressions,
        count(case when outcome = 'improvement' then 1 end) as count_improvements
    from placed
    group by cell_key
),

by_group as (
    select
        placed.cell_key, groups.kind,
        sum(placed.weight) as weight,
        {{ exact_sum('placed.difference * placed.weight') }} as difference_sum
    from placed
    inner join groups
        on placed.cluster_id = groups.cluster_id and placed.second_cluster_id = groups.second_cluster_id
    group by placed.cell_key, groups.kind, groups.jackknife_group
),

-- without cluster s the mean moves by -(sum_s - w_s mean) / (W - w_s); squared around the mean of all clusters (CR3)
-- and kept times W, so that whole billionths of them can be summed in any order
moved as (
    select
        by_group.*,
        (by_group.difference_sum - by_group.weight * totals.difference)
        * totals.weight / nullif(totals.weight - by_group.weight, 0) as move
    from by_group
    inner join totals on by_group.cell_key = totals.cell_key
),

spread as (
    select
        cell_key, kind,
        count(*) as count_clusters,
        sum(weight) * sum(weight) / sum(weight * weight)::double as clusters_effective,
        {{ exact_sum('move * move') }} * (count(*) - 1) / count(*) / (sum(weight) * sum(weight)) as variance,
        {{ exact_sum('greatest(difference_sum, 0)') }} / sum(weight) as gain,
        {{ exact_sum('greatest(0 - difference_sum, 0)') }} / sum(weight) as loss,
        count(case when difference_sum > 0 then 1 end) as count_clusters_better,
        count(case when difference_sum < 0 then 1 end) as count_clusters_worse
    from moved
    group by cell_key, kind
),

crossed as (
    select
        *,
        max(case when kind = 'document' then count_clusters end) over cell as count_second_clusters,
        greatest(
            max(case when kind = 'cluster' then variance end) over cell
            + max(case when kind = 'document' then variance end) over cell
            - max(case when kind = 'both' then variance end) over cell,
            max(case when kind <> 'both' then variance end) over cell
        ) as crossed_variance,
        min(case when kind <> 'both' then clusters_effective end) over cell as least_effective
    from spread
    window cell as (partition by cell_key)
),

-- what the candidate was asked in the release population and the baseline was not
others as (
    select
        pairs.version_pair_id, evaluations.metric_name,
        {%- for outcome in ['failing', 'failing_of_all'] %}
        sum(evaluations.is_{{ outcome }}::integer * evaluations.whole_weight)::double
        / sum(case when evaluations.is_{{ outcome }} is not null then evaluations.whole_weight end)
            as share_{{ outcome }},
        {%- endfor %}
        count(distinct queries.cluster_id) as count_clusters
    from {{ ref('hcat', 'int_version_pairs_listed') }} as pairs
    inner join {{ ref('hcat', 'int_version_queries_keyed') }} as queries
        on pairs.application = queries.application and pairs.candidate_version = queries.version
    inner join {{ ref('hcat', 'int_primary_evaluations') }} as evaluations
        on queries.interaction_id = evaluations.interaction_id
    left join segments
        on
            pairs.version_pair_id = segments.version_pair_id
            and queries.query_key = segments.query_key
            and segments.dimension = 'all'
    where segments.query_key is null and evaluations.is_in_release_population
    group by pairs.version_pair_id, evaluations.metric_name
),

expected as (
    select
        *,
        {{ hash_number(
            hash_number('version_pair_id, metric_name, measurement') ~ ', ' ~ hash_number('dimension, segment')
        ) }} as cell_key
    from {{ ref('hcat', 'int_version_cells_expected') }}
),

final as (
    select
        md5(
            concat_ws(
                '|', expected.version_pair_id, expected.metric_name, expected.dimension, expected.segment,
                expected.measurement
            )
        ) as version_comparison_id,
        expected.version_pair_id, expected.metric_name, expected.dimension, expected.segment,
        expected.measurement,
        expected.count_shared_queries,
        coalesce(totals.count_pairs, 0)::bigint as count_pairs,
        coalesce(crossed.count_clusters, 0) as count_clusters,
        coalesce(crossed.count_second_clusters, 0) as count_second_clusters,
        -- documents bound what is known only where they widen the error
        if(crossed.crossed_variance > crossed.variance, crossed.least_effective, crossed.clusters_effective)
            as clusters_effective,
        totals.baseline_value, totals.candidate_value, totals.difference,
        sqrt(crossed.crossed_variance) as standard_error, crossed.gain, crossed.loss,
        coalesce(crossed.count_clusters_better, 0)::bigint as count_clusters_better,
        coalesce(crossed.count_clusters_worse, 0)::bigint as count_clusters_worse,
        case when expected.has_threshold then coalesce(totals.count_regressions, 0) end::bigint as count_regressions,
        case when expected.has_threshold then coalesce(totals.count_improvements, 0) end::bigint
            as count_improvements,
        expected.value_range::double as value_range,
        expected.family,
        expected.margin::double as margin,
        expected.tolerated_loss::double as tolerated_loss,
        expected.target_difference::double as target_difference,
        coalesce(expected.is_lower_by_design, false) as is_lower_by_design,
        totals.noise, totals.noise_of_one,
        case expected.measurement
            when 'share_failing' then others.share_failing
            when 'share_failing_of_all' then others.share_failing_of_all
        end as others_value,
        others.count_clusters as count_other_clusters,
        days.count_days, days.day_degrees, days.day_standard_error,
        expected.measurement = 'mean_score' or expected.has_threshold as has_threshold
    from expected
    left join totals on expected.cell_key = totals.cell_key
    left join crossed on totals.cell_key = crossed.cell_key and crossed.kind = 'cluster'
    left join others
        on
            expected.version_pair_id = others.version_pair_id
            and expected.metric_name = others.metric_name
            and expected.dimension = 'all'
    left join {{ ref('hcat', 'int_version_days') }} as days
        on
            expected.version_pair_id = days.version_pair_id
            and expected.metric_name = days.metric_name
            and expected.measurement = days.measurement
)

select * from final
