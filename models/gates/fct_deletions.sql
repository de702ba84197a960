with deletions as (
    {{ deletion_log() }}
),

followed as (
    select
        deletions.deletion_number,
        min_by(runs.run_id, runs.build_number) as followed_by_run_id
    from deletions
    inner join {{ ref('hcat', 'dim_runs') }} as runs on deletions.after_build_number < runs.build_number
    group by deletions.deletion_number
)

select {{ columns_of_contract({'followed_by_run_id': 'followed.followed_by_run_id'}, of='deletions') }}
from deletions
left join followed on deletions.deletion_number = followed.deletion_number
