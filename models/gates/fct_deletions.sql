with deletions as (
    {{ deletion_log() }}
),

runs as (
    select run_id, build_number from {{ ref('hcat', 'dim_runs') }}
),

followed as (
    select
        deletions.deletion_number,
        min_by(runs.run_id, runs.build_number) as followed_by_run_id
    from deletions
    inner join runs on deletions.after_build_number < runs.build_number
    group by deletions.deletion_number
),

final as (
    select
        -- ids
        deletions.deletion_number, followed.followed_by_run_id,

        -- strings
        deletions.command, deletions.reason, deletions.ids_sha256,

        -- numerics
        deletions.after_build_number, deletions.count_ids, deletions.count_interactions,
        deletions.count_queries, deletions.count_texts, deletions.count_evaluations,

        -- timestamps
        deletions.weeks_before, deletions.deleted_at, deletions.finished_at
    from deletions
    left join followed on deletions.deletion_number = followed.deletion_number
)

select * from final
