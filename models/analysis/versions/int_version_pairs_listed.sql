with interactions as (
    select * from {{ ref('hcat', 'int_interaction_attributes') }}
    where application_version is not null and population <> 'variant'
),

versions as (
    select
        {{ named('application') }} as application,
        application_version as version,
        -- where a version has no time, names order all of them (int_interaction_attributes)
        case
            when bool_and(min(asked_at) is not null) over (partition by {{ named('application') }}) then min(asked_at)
        end as first_asked_at
    from interactions
    group by {{ named('application') }}, application_version
),

-- the pair that the build is about
subjects as (
    select
        {{ named('application') }} as application,
        max(case when version_role = 'candidate' then application_version end) as candidate,
        max(case when version_role = 'baseline' then application_version end) as baseline
    from interactions
    group by {{ named('application') }}
),

ordered as (
    select
        application,
        version as candidate_version,
        lag(version) over (
            partition by application
            order by first_asked_at asc, {{ numbers_of_version('version') }} asc, version asc
        ) as baseline_version
    from versions
),

declared as (
    select version_pairs.application, version_pairs.baseline_version, version_pairs.candidate_version
    from {{ seed('version_pairs') }} as version_pairs
    inner join versions as baselines
        on version_pairs.application = baselines.application and version_pairs.baseline_version = baselines.version
    inner join versions as candidates
        on version_pairs.application = candidates.application and version_pairs.candidate_version = candidates.version
    where version_pairs.baseline_version <> version_pairs.candidate_version
),

united as (
    select application, baseline_version, candidate_version, 'predecessor' as pair_kind
    from ordered
    where baseline_version is not null
    union all
    select application, baseline_version, candidate_version, 'declared' as pair_kind
    from declared
),

final as (
    -- a declared pair that is also one of neighbours counts once, as neighbours
    select
        md5(concat_ws('|', united.application, united.baseline_version, united.candidate_version)) as version_pair_id,
        united.application, united.baseline_version, united.candidate_version,
        max(united.pair_kind) as pair_kind,
        coalesce(
            bool_or(
                united.candidate_version = subjects.candidate and united.baseline_version = subjects.baseline
            ),
            false
        ) as is_latest
    from united
    inner join subjects on united.application = subjects.application
    group by united.application, united.baseline_version, united.candidate_version
)

select * from final
