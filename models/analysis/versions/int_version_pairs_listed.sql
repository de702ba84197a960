-- One row per (application, baseline version, candidate version): each version with its predecessor, and the declared
-- pairs.

with interactions as (
    select * from {{ ref('hcat', 'int_interactions') }}
),

version_pairs as (
    select * from {{ seed('version_pairs') }}
),

versions as (
    select
        {{ named('application') }} as application,
        application_version as version,
        min(asked_at) as first_asked_at
    from interactions
    where application_version is not null
    group by {{ named('application') }}, application_version
),

ordered as (
    select
        application,
        version as candidate_version,
        lag(version) over (partition by application order by first_asked_at asc nulls first, version asc)
            as baseline_version,
        row_number() over (partition by application order by first_asked_at desc nulls last, version desc) = 1
            as is_latest
    from versions
),

declared as (
    select version_pairs.application, version_pairs.baseline_version, version_pairs.candidate_version
    from version_pairs
    inner join versions as baselines
        on version_pairs.application = baselines.application and version_pairs.baseline_version = baselines.version
    inner join versions as candidates
        on version_pairs.application = candidates.application and version_pairs.candidate_version = candidates.version
    where version_pairs.baseline_version <> version_pairs.candidate_version
),

united as (
    select application, baseline_version, candidate_version, 'predecessor' as pair_kind, is_latest
    from ordered
    where baseline_version is not null
    union all
    select application, baseline_version, candidate_version, 'declared' as pair_kind, false as is_latest
    from declared
),

final as (
    -- a declared pair that is also one of neighbours counts once, as neighbours
    select
        md5(concat_ws('|', application, baseline_version, candidate_version)) as version_pair_id,
        application,
        baseline_version,
        candidate_version,
        max(pair_kind) as pair_kind,
        bool_or(is_latest) as is_latest
    from united
    group by application, baseline_version, candidate_version
)

select * from final
