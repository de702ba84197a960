with sightings as (
    select * from {{ ref('hcat', 'int_findings_seen') }}
),

decisions as (
    select * from {{ seed('finding_decisions') }}
),

retests as (
    select * from {{ ref('hcat', 'int_findings_confirmed') }}
),

weak as (
    select
        *,
        row_number() over (partition by cell_id order by build_number asc) as sighting,
        row_number() over (partition by cell_id order by build_number desc) as sighting_from_last,
        count(*) over (partition by cell_id) as count_runs_seen
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

final as (
    select
        -- ids
        last_seen.cell_id as finding_id,
        first_seen.run_id as first_seen_run,
        last_seen.run_id as last_seen_run,

        -- strings
        case when retests.is_confirmed then 'confirmed' else 'suspected' end as kind,
        case when retests.is_confirmed then 'new_clusters' end as confirmed_on,
        case
            when retests.is_confirmed then 'confirmed'
            when not retests.is_confirmed then 'not_confirmed'
            else 'waiting'
        end as confirmation_status,
        last_seen.metric_name,
        last_seen.first_dimension,
        last_seen.first_segment,
        last_seen.second_dimension,
        last_seen.second_segment,
        last_seen.measurement,
        last_seen.severity,
        case when closings.cell_id is not null then 'closed_by_data' else coalesce(decisions.status, 'open') end
            as status,
        decisions.owner_role as owner,
        decisions.note,
        latest.retest_result,
        latest.test_status as retest_status,

        -- numerics
        first_seen.build_number as first_seen_build_number,
        last_seen.build_number as last_seen_build_number,
        case when retests.is_confirmed then retests.build_number end as confirmed_build_number,
        closings.closed_build_number,
        last_seen.count_runs_seen,
        last_seen.difference,
        last_seen.difference_lower,
        last_seen.difference_upper,
        last_seen.margin,
        first_seen.count_needed_to_confirm,
        retests.count_interactions as count_new_interactions,
        retests.count_clusters as count_new_clusters,
        retests.difference as new_difference,
        retests.p_value as new_p_value,
        latest.difference as retest_difference,
        latest.difference_lower as retest_lower,
        latest.difference_upper as retest_upper,

        -- timestamps
        decisions.decided_on,
        first_seen.built_at as first_seen_at,
        last_seen.built_at as last_seen_at,
        latest.built_at as retested_at,
        confirming_builds.built_at as confirmed_at,
        closing_builds.built_at as closed_at
    from last_seen
    inner join first_seen on last_seen.cell_id = first_seen.cell_id
    inner join latest on last_seen.cell_id = latest.cell_id
    left join closings on last_seen.cell_id = closings.cell_id
    left join retests on last_seen.cell_id = retests.cell_id
    left join builds as confirming_builds
        on retests.is_confirmed and retests.build_number = confirming_builds.build_number
    left join builds as closing_builds on closings.closed_build_number = closing_builds.build_number
    left join decisions on last_seen.cell_id = decisions.finding_id
)

select * from final
