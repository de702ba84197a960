-- A row holds the number of this build, which the Python model int_findings_confirmed cannot count.
{{ config(materialized='table') }}

with clusters_seen as (
    select cluster_id, build_number from {{ ref('hcat', 'int_clusters_seen') }}
),

clusters as (
    select cluster_id, is_second, jackknife_group from {{ ref('hcat', 'int_clusters_bucketed') }}
),

evaluations as (
    select * from {{ ref('hcat', 'int_primary_evaluations') }}
    where is_in_release_population
),

interactions as (
    select interaction_id, cluster_id, second_cluster_id from {{ ref('hcat', 'int_interaction_attributes') }}
),

segments as (
    select * from {{ ref('hcat', 'int_cell_segments') }}
),

sightings as (
    select *, {{ closed_before() }} as closed_before from {{ ref('hcat', 'int_findings_seen') }}
),

-- as it was found, or found again after it was closed; what was found before clusters were remembered has no new ones
findings as (
    select
        sightings.*, concat_ws(' after ', sightings.cell_id, sightings.closed_before::string) as finding_key,
        case when metrics.direction = 'higher_is_better' then 0 - 1 else 1 end as score_sign
    from sightings
    inner join {{ ref('hcat', 'int_metric_catalog') }} as metrics on sightings.metric_name = metrics.metric_name
    where
        sightings.retest_result = 'weak'
        and sightings.build_number >= (select min(clusters_seen.build_number) from clusters_seen)
    qualify row_number() over (
            partition by sightings.cell_id
            order by coalesce(sightings.closed_before, -1) desc, sightings.build_number asc
        ) = 1
),

valued as (
    select
        findings.finding_key as cell_id, findings.count_needed_to_confirm,
        interactions.cluster_id, clusters.jackknife_group, interactions.second_cluster_id,
        documents.jackknife_group as second_group,
        evaluations.whole_weight::double as weight, findings.build_number < clusters_seen.build_number as is_new,
        case
            when findings.measurement = 'share_failing' then evaluations.is_failing::integer
            when findings.measurement = 'share_failing_of_all' then evaluations.is_failing_of_all::integer
            else evaluations.raw_score * findings.score_sign
        end::double as value,
        first_segments.interaction_id is not null
        and (findings.second_dimension is null or second_segments.interaction_id is not null) as is_in_cell
    from findings
    inner join evaluations on findings.metric_name = evaluations.metric_name
    inner join interactions on evaluations.interaction_id = interactions.interaction_id
    inner join clusters_seen on interactions.cluster_id = clusters_seen.cluster_id
    inner join clusters on interactions.cluster_id = clusters.cluster_id and not clusters.is_second
    inner join clusters as documents on interactions.second_cluster_id = documents.cluster_id and documents.is_second
    left join segments as first_segments
        on
            evaluations.interaction_id = first_segments.interaction_id
            and findings.first_dimension = first_segments.dimension
            and findings.first_segment = first_segments.segment
    left join segments as second_segments
        on
            evaluations.interaction_id = second_segments.interaction_id
            and findings.second_dimension = second_segments.dimension
            and findings.second_segment = second_segments.segment
),

-- the documents of the new interactions of each cell, and those that no earlier one was about
counted as (
    select
        cell_id,
        count(distinct case when is_new then second_cluster_id end) as count_second_clusters,
        count(distinct second_cluster_id) - count(distinct case when not is_new then second_cluster_id end)
            as count_new_second_clusters
    from valued
    where value is not null and is_in_cell
    group by cell_id
),

-- each row leaves once with its cluster and once with its document
keyed as (
    select *, cluster_id as key_id, jackknife_group as key_group, false as is_second from valued
    union all
    select *, second_cluster_id as key_id, second_group as key_group, true as is_second from valued
),

summed as (
    select
        cell_id, is_second, key_group as jackknife_group,
        max(count_needed_to_confirm) as count_needed_to_confirm,
        count(distinct case when is_in_cell then key_id end) as count_clusters_cell,
        count(distinct key_id) as count_clusters_all,
        count(distinct case when is_in_cell then {{ hash_number('cluster_id, second_cluster_id') }} end)
            as count_pairs_cell,
        count(case when is_in_cell then 1 end) as count_cell,
        coalesce({{ exact_sum('case when is_in_cell then weight end') }}, 0) as weight_cell,
        coalesce({{ exact_sum('case when is_in_cell then weight * weight end') }}, 0) as squares_cell,
        coalesce({{ exact_sum('case when is_in_cell then value * weight end') }}, 0) as sum_cell,
        {{ exact_sum('weight') }} as weight_all,
        {{ exact_sum('weight * weight') }} as squares_all,
        {{ exact_sum('value * weight') }} as sum_all,
        {{ exact_sum('value * value * weight') }} as sum_squares_all
    from keyed
    where value is not null and is_new
    group by cell_id, is_second, key_group
),

final as (
    select
        summed.*,
        '{{ invocation_id }}' as run_id,
        coalesce(counted.count_second_clusters, 0) as count_second_clusters,
        coalesce(counted.count_new_second_clusters, 0) as count_new_second_clusters,
        {{ build_number() }} as build_number,
        timestamp '{{ run_started_at.strftime("%Y-%m-%d %H:%M:%S") }}' as built_at
    from summed
    left join counted on summed.cell_id = counted.cell_id
)

select * from final
