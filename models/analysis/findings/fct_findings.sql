with seen as (
    select *, {{ closed_before() }} as closed_before from {{ ref('hcat', 'int_findings_seen') }}
),

sightings as (
    select *, concat_ws(' after ', cell_id, closed_before::string) as finding_key from seen
),

weak as (
    select
        *,
        row_number() over (partition by cell_id order by build_number asc) as sighting,
        row_number() over (partition by cell_id order by build_number desc) as sighting_from_last,
        count(*) over (partition by cell_id) as count_runs_seen,
        first_value(count_needed_to_confirm) over (partition by finding_key order by build_number) as count_needed
    from sightings
    where retest_result = 'weak'
),

first_seen as (
    select * from weak
    where sighting = 1
),

last_seen as (
    select * from weak
    where sighting_from_last = 1
),

latest as (
    select * from sightings
    qualify row_number() over (partition by cell_id order by build_number desc) = 1
),

-- closed since it was last weak; a build that cannot test the cell does not open it again
closings as (
    select sightings.cell_id, min(sightings.build_number) as closed_build_number
    from sightings
    inner join last_seen on sightings.cell_id = last_seen.cell_id
    where sightings.retest_result = 'no_longer_weak' and sightings.build_number >= last_seen.build_number
    group by sightings.cell_id
),

builds as (
    select build_number, min(built_at) as built_at from sightings
    group by build_number
),

candidates as (
    select
        system,
        max(max(case when is_in_release_population then asked_week::string end)) over () as last_week
    from {{ ref('hcat', 'fct_interactions') }}
    where version_role = 'candidate'
    group by system
),

segments as (
    select cell_id, first_dimension as dimension, first_segment as segment from last_seen
    union all
    select cell_id, second_dimension as dimension, second_segment as segment from last_seen
),

-- nobody can ask a past week again, or a version that is no candidate any more
ended as (
    select
        segments.cell_id,
        case when min(segments.dimension) = 'asked_week' then 'past_week' else 'retired_version' end as reason
    from segments
    left join candidates
        on
            (segments.dimension = 'asked_week' and segments.segment >= candidates.last_week)
            or (segments.dimension = 'system' and segments.segment = candidates.system)
    where segments.dimension in ('asked_week', 'system') and candidates.system is null
    group by segments.cell_id
),

described as (
    select
        last_seen.*, holes.leading_id, closings.closed_build_number,
        case when closings.cell_id is not null then 'closed_by_data' else coalesce(decisions.status, 'open') end
            as status,
        decisions.owner_role, decisions.note, decisions.decided_on,
        latest.retest_result as latest_result, latest.test_status as latest_status,
        latest.difference as latest_difference, latest.difference_lower as latest_lower,
        latest.difference_upper as latest_upper, latest.built_at as latest_at
    from last_seen
    inner join latest on last_seen.cell_id = latest.cell_id
    left join {{ ref('hcat', 'int_findings_in_holes') }} as holes on last_seen.cell_id = holes.cell_id
    left join closings on last_seen.cell_id = closings.cell_id
    left join {{ seed('finding_decisions') }} as decisions on last_seen.cell_id = decisions.finding_id
),

-- what a reader meets first: open findings, one of each hole, the severe ones and then the frequent ones; what the
-- latest build does not show only if new clusters confirmed it
ranked as (
    select
        described.cell_id,
        row_number() over (
            order by
                described.latest_result <> 'weak' asc,
                described.severity is distinct from 'severe' asc, described.severity is distinct from 'moderate' asc,
                described.failed_answers_a_week desc nulls last,
                described.difference desc,
                described.cell_id asc
        ) as page_rank
    from described
    left join {{ ref('hcat', 'int_findings_confirmed') }} as confirmed on described.finding_key = confirmed.cell_id
    where
        described.status <> 'closed_by_data'
        and coalesce(described.leading_id, described.cell_id) = described.cell_id
        and described.latest_status <> 'not_admitted'
        and (described.latest_result = 'weak' or confirmed.is_confirmed)
),

final as (
    select
        -- ids
        described.cell_id as finding_id,
        coalesce(described.leading_id, described.cell_id) as leading_finding_id,
        first_seen.run_id as first_seen_run,
        described.run_id as last_seen_run,

        -- strings
        case when retests.is_confirmed then 'confirmed' else 'suspected' end as kind,
        case
            when not retests.is_confirmed then null
            when retests.count_new_second_clusters < {{ var('hcat_minimum_segment_clusters') }} then 'same_documents'
            when retests.is_confirmed then 'new_clusters'
        end as confirmed_on,
        case
            when retests.is_confirmed then 'confirmed'
            when not retests.is_confirmed then 'not_confirmed'
            else coalesce(ended.reason, 'waiting')
        end as confirmation_status,
        described.metric_name, described.first_dimension, described.first_segment, described.second_dimension,
        described.second_segment, described.measurement, described.severity, described.risk_rating,
        described.failed_answers_basis,
        coalesce(evidence.labels_say, 'silent') as labels_say,
        evidence.labels_by, described.status,
        described.owner_role as owner,
        described.note,
        described.latest_result as retest_result,
        described.latest_status as retest_status,
        evidence.common_fault,
        evidence.example_interaction_ids,

        -- numerics
        ranked.page_rank,
        first_seen.build_number as first_seen_build_number,
        described.build_number as last_seen_build_number,
        case when retests.is_confirmed then retests.build_number end as confirmed_build_number,
        described.closed_build_number, described.count_runs_seen, described.difference,
        described.difference_lower, described.difference_upper, described.margin,
        described.failed_answers_a_week,
        {%- for count in ['labels_inside', 'failed_labels_inside', 'labels_outside', 'failed_labels_outside'] %}
        coalesce(evidence.count_{{ count }}, 0)::bigint as count_{{ count }},
        {%- endfor %}
        case when retests.cell_id is not null or ended.reason is null then described.count_needed end
            as count_needed_to_confirm,
        retests.count_interactions as count_new_interactions,
        retests.count_second_clusters, retests.count_new_second_clusters,
        retests.difference as new_difference,
        described.latest_difference as retest_difference,
        described.latest_lower as retest_lower,
        described.latest_upper as retest_upper,

        -- timestamps
        described.decided_on,
        first_seen.built_at as first_seen_at,
        described.built_at as last_seen_at,
        described.latest_at as retested_at,
        confirming_builds.built_at as confirmed_at,
        closing_builds.built_at as closed_at
    from described
    inner join first_seen on described.cell_id = first_seen.cell_id
    left join ended on described.cell_id = ended.cell_id
    left join {{ ref('hcat', 'int_findings_evidence') }} as evidence on described.cell_id = evidence.cell_id
    left join ranked on described.cell_id = ranked.cell_id
    left join {{ ref('hcat', 'int_findings_confirmed') }} as retests on described.finding_key = retests.cell_id
    left join builds as confirming_builds
        on retests.is_confirmed and retests.build_number = confirming_builds.build_number
    left join builds as closing_builds on described.closed_build_number = closing_builds.build_number
)

select * from final
